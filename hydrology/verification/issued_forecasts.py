"""Verifies issued forecasts by lead against observed flow, beside their rivals (climatology, persistence).

As in `hydrology.verification.reforecasts`, a forecast counts only where the flow of T0, which persistence needs, was
observed, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Days
from hydrology.climatology.flow_climatology import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.forecast_scores import Array, Chosen, high_flow
from hydrology.verification.reforecasts import CALIBRATED, RAW
from hydrology.verification.results import Season, Verification
from hydrology.verification.verify import CLIMATOLOGY, score_all, verify

ADJUSTED, AS_ISSUED = "adjusted", "as-issued"
"""Forecasters of the forecasts that were adjusted, and of the same ones before that."""


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
        if created.any():
            beside_rivals = self._beside_rivals(CALIBRATED, self.calibrated, created, lead, observed)
        else:
            beside_rivals = self._beside_rivals(CALIBRATED, self.why_not_calibrated, of_all, lead, observed)
        yield from (of_season for of_season in beside_rivals if of_season[0] == CALIBRATED)

    def verify_adjusted(self, lead: int, observed: Observed) -> Iterator[tuple[str, Season, Verification]]:
        """Yield the skill of adjusted forecasts (`calibrated`) and of the same ones as issued (`raw`), as `verify`."""
        both = self._counts(self.raw + self.calibrated, lead, observed)
        if both.any():
            for forecaster, quantiles in ((AS_ISSUED, self.raw), (ADJUSTED, self.calibrated)):
                beside_rivals = self._beside_rivals(forecaster, quantiles, both, lead, observed)
                yield from (of_season for of_season in beside_rivals if of_season[0] == forecaster)

    def count(self, observed: Observed) -> int:
        """Return the number of forecasts that count, over all leads."""
        return sum(int(self._counts(self.raw, lead, observed).sum()) for lead in self.leads)

    def _counts(self, quantiles: Array, lead: int, observed: Observed) -> Chosen:
        """Return which forecasts have quantiles at a lead, and observed flow on T0 and on the forecast day."""
        known = np.isfinite(observed.on(self.t0) + observed.on(self.t0 + lead))
        return np.asarray(known & np.isfinite(quantiles[:, lead - 1, 0]))

    def _beside_rivals(
        self, forecaster: str, quantiles: Array | Absent, chosen: Chosen, lead: int, observed: Observed
    ) -> Iterator[tuple[str, Season, Verification]]:
        t0 = self.t0[chosen]
        days, flow, threshold = t0 + lead, observed.on(t0 + lead), observed.threshold
        of_forecaster = quantiles if isinstance(quantiles, Absent) else quantiles[chosen, lead - 1]
        of_days = {forecaster: of_forecaster, CLIMATOLOGY: observed.climatology.quantiles(days)}
        yield from verify(score_all(of_days, observed.on(t0), flow, threshold), days, flow, threshold, lead)
