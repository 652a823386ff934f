"""Verifies reforecasts and issued forecasts by lead, beside their rivals (climatology, persistence).

With observed weather a forecast equals the simulation, because the state of T0 is the simulation's own: one simulation
contains the reforecasts of every T0 and lead. A forecast counts only where the flow of T0 was observed, too:
persistence needs it, and each lead has a single gap to the last observed flow.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Day, Days
from hydrology.climatology.normals import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel, errors_of
from hydrology.uncertainty.error_network import DaysAhead
from hydrology.uncertainty.weighted import weighted_mean, weighted_quantiles
from hydrology.verification.results import ForecastScores, Season, Verification, high_flow
from hydrology.verification.verify import CLIMATOLOGY, DAMPED, PERSISTENCE, score_all, verify

Places = np.ndarray[tuple[int], np.dtype[np.int64]]

CALIBRATED, RAW = "calibrated", "raw"
FORECASTERS = (CALIBRATED, RAW, CLIMATOLOGY, PERSISTENCE, DAMPED)
"""The error model's quantiles, the raw spread of the members, the flow of other years, the last observed flow, and that
on its way to the mean flow."""


@dataclass(frozen=True, slots=True)
class AtLead:
    """The forecasts of one lead, (forecasts,) each, in mm/day: `simulated` is the members' mean, `last_observed` of T0.

    Quantiles are at `LEVELS`, (forecasts, levels), by forecaster; or why there are none.
    """

    days: Days
    observed: Array
    simulated: Array
    last_observed: Array
    quantiles: Mapping[str, Array | Absent]

    def judged(self, threshold: float) -> dict[str, ForecastScores | Absent]:
        """Return the scores of each of `FORECASTERS`, with the threshold of warnings in mm/day."""
        return score_all(self.quantiles, self.last_observed, self.observed, threshold)


@dataclass(frozen=True, slots=True)
class Reforecasts:
    """A basin's reforecasts: simulated (members, days) and observed (days,) flow, mm/day, NaN where missing.

    Weights are (members,), of sum 1; None where all are equal.
    """

    days: Days
    members: Array
    observed: Array
    climatology: FlowClimatology
    error_model: BasinErrorModel | Absent
    weights: Array | None = None

    def at(self, lead: int, every: int) -> AtLead:
        """Return the forecasts at a lead of every n-th day, where the flow of both days is observed."""
        t0 = np.arange(0, len(self.days) - lead, every)
        t0 = t0[np.isfinite(self.observed[t0] + self.observed[t0 + lead])]
        ahead = t0 + lead
        simulated = weighted_mean(self.members, self.weights)
        quantiles = {
            CALIBRATED: self._calibrated(simulated, t0, lead),
            RAW: weighted_quantiles(self.members[:, ahead], LEVELS, self.weights).T,
            CLIMATOLOGY: self.climatology.quantiles(self.days[ahead]),
            DAMPED: self.climatology.damped(self.observed[t0], lead)[:, None],
        }
        return AtLead(self.days[ahead], self.observed[ahead], simulated[ahead], self.observed[t0], quantiles)

    def _calibrated(self, simulated: Array, t0: Places, lead: int) -> Array | Absent:
        if isinstance(self.error_model, Absent):
            return self.error_model
        errors = errors_of(self.error_model.errors, simulated, self.observed)
        return self.error_model.quantiles(DaysAhead.of(simulated, errors, t0, t0 + lead))


ADJUSTED, AS_ISSUED = "adjusted", "as-issued"
"""Forecasters of the forecasts that were adjusted, and of the same ones before that."""


def of_rival(rival: str) -> str:
    """Return the forecaster of a rival's forecasts."""
    return f"rival {rival}"


def beside_rival(rival: str) -> str:
    """Return the forecaster of the own forecasts on a rival's days."""
    return f"beside {rival}"


class Observed:
    """The observed flow of a basin, with its climatology and threshold of warnings.

    Flow is of consecutive days, mm/day, NaN where missing, at least one known; 2 % of its days exceed the threshold.
    """

    def __init__(self, first: Day, flow: Array) -> None:
        self._first, self._flow = first, flow
        self.climatology = FlowClimatology(first + np.arange(len(flow)), flow, LEVELS)
        self.threshold = high_flow(flow)

    def on(self, days: Days) -> Array:
        """Return the flow of some days, NaN where not observed."""
        at = (days - self._first).astype(int)
        inside = (at >= 0) & (at < len(self._flow))
        return np.where(inside, self._flow[np.where(inside, at, 0)], np.nan)


@dataclass(frozen=True, slots=True)
class IssuedForecasts:
    """The forecasts of a basin that count, (forecasts,) by T0; quantiles (forecasts, leads, levels) in mm/day.

    `raw` are of members and traces, NaN where a forecast does not count or reach; `calibrated` of the error model, NaN
    also where it has none.
    """

    t0: Days
    raw: Array
    calibrated: Array
    why_not_calibrated: Absent

    @property
    def leads(self) -> range:
        """The leads of any of the forecasts."""
        return range(1, self.raw.shape[1] + 1)

    def verify(self, lead: int, observed: Observed) -> Iterator[tuple[str, Season, Verification]]:
        """Yield forecaster, season and skill at one lead, as `verification.verify` does.

        The error model is judged on its own forecasts, the others on all that count.
        """
        of_all, created = (self._counts(quantiles, lead, observed) for quantiles in (self.raw, self.calibrated))
        yield from self._beside_rivals(RAW, self.raw, of_all, lead, observed)
        judged = self.calibrated if created.any() else self.why_not_calibrated
        chosen = created if created.any() else of_all
        beside_rivals = self._beside_rivals(CALIBRATED, judged, chosen, lead, observed)
        yield from (of_season for of_season in beside_rivals if of_season[0] == CALIBRATED)

    def verify_adjusted(self, lead: int, observed: Observed) -> Iterator[tuple[str, Season, Verification]]:
        """Yield the skill of adjusted forecasts (`calibrated`) and of the same ones as issued (`raw`), as `verify`."""
        both = self._counts(self.raw + self.calibrated, lead, observed)
        if both.any():
            for forecaster, quantiles in ((AS_ISSUED, self.raw), (ADJUSTED, self.calibrated)):
                beside_rivals = self._beside_rivals(forecaster, quantiles, both, lead, observed)
                yield from (of_season for of_season in beside_rivals if of_season[0] == forecaster)

    def verify_rival(
        self, rival: str, theirs: Array, lead: int, observed: Observed
    ) -> Iterator[tuple[str, Season, Verification]]:
        """Yield the skill of a rival's forecasts and of these, calibrated where they can be, on days that both count.

        Theirs are (forecasts, leads, levels) in mm/day, or (forecasts, leads, 1) of one flow; NaN where missing.
        """
        own = np.where(np.isfinite(self.calibrated), self.calibrated, self.raw)
        both = self._counts(own, lead, observed) & self._counts(theirs, lead, observed)
        if both.any():
            for forecaster, quantiles in ((of_rival(rival), theirs), (beside_rival(rival), own)):
                beside_rivals = self._beside_rivals(forecaster, quantiles, both, lead, observed)
                yield from (of_season for of_season in beside_rivals if of_season[0] == forecaster)

    def count(self, observed: Observed) -> int:
        """Return the number of forecasts that count, over all leads."""
        return sum(int(self._counts(self.raw, lead, observed).sum()) for lead in self.leads)

    def _counts(self, quantiles: Array, lead: int, observed: Observed) -> Mask:
        """Return which forecasts have quantiles at a lead, and observed flow on T0 and on the forecast day."""
        known = np.isfinite(observed.on(self.t0) + observed.on(self.t0 + lead))
        return np.asarray(known & np.isfinite(quantiles[:, lead - 1, 0]))

    def _beside_rivals(
        self, forecaster: str, quantiles: Array | Absent, chosen: Mask, lead: int, observed: Observed
    ) -> Iterator[tuple[str, Season, Verification]]:
        t0 = self.t0[chosen]
        days, flow, threshold = t0 + lead, observed.on(t0 + lead), observed.threshold
        of_forecaster = quantiles if isinstance(quantiles, Absent) else quantiles[chosen, lead - 1]
        last, climatology = observed.on(t0), observed.climatology
        of_days = {
            forecaster: of_forecaster,
            CLIMATOLOGY: climatology.quantiles(days),
            DAMPED: climatology.damped(last, lead)[:, None],
        }
        yield from verify(score_all(of_days, last, flow, threshold), days, flow, threshold, lead)
