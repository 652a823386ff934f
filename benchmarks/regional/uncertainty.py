"""How true the shipped ensemble's probabilities are: coverage, CRPS, reliability by lead time, with observed weather.

The error model is fitted on the validation years alone. It is judged by reforecasts of the test years: from every fifth
day, one to ten days ahead. With observed weather a forecast is the simulation, for the state of T0 is the simulation's.
Rivals: the spread of the members as it is (raw), the same error model without the last observed flow, the basin's
climatology (the days of other years within a week of the day of the year), and the last observed flow (persistence).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import TEST, VALIDATION, basins
from benchmarks.regional.members import ENSEMBLE
from hydrology.calendar import Period, water_year
from hydrology.error_fit import Fit, Pairs, fit
from hydrology.error_model import LEVELS, LONGEST_GAP, errors_of
from hydrology.probabilistic import chance_of_passing, crps, interval_score
from hydrology.scores import nse

Array = npt.NDArray[np.float64]

LEADS = tuple(range(1, 11))
EVERY_DAYS = 5
NEAR_DAYS = 7  # of the day of the year, for the climatology
HIGH_SHARE, LOW_SHARE = 0.02, 1 / 3
LEAST_IN_BIN = 200  # days, for a bin of the reliability to be told
NO_GAP = float(LONGEST_GAP + 1)


def level(value: float) -> int:
    """Return the column of a level."""
    return LEVELS.index(value)


@dataclass(frozen=True, slots=True)
class Basin:
    """One basin over the whole record, (days,) each, members (members, days), in mm/day."""

    name: str
    days: npt.NDArray[np.datetime64]
    members: Array
    observed: Array

    @property
    def simulated(self) -> Array:
        """The members' mean."""
        return np.asarray(self.members.mean(axis=0))


@dataclass(frozen=True, slots=True)
class Judged:
    """What one forecaster's quantiles are worth in one basin at one lead time.

    Attributes:
        crps, width: means over the days, mm/day.
        inside90, inside50: which days lie within the central interval.
        high, low: which days are among the highest 2 % and the lowest third of the basin.
        high_score: the sum of the interval scores of the high days.
        chances: of passing the level of the high days; `high` says whether it came so.
        nse: of the median.
    """

    crps: float
    width: float
    inside90: npt.NDArray[np.bool_]
    inside50: npt.NDArray[np.bool_]
    high: npt.NDArray[np.bool_]
    low: npt.NDArray[np.bool_]
    high_score: float
    chances: Array
    nse: float | None

    @classmethod
    def of(cls, quantiles: Array, observed: Array, high_flow: float, low_flow: float) -> "Judged":
        """Judge quantiles (days, levels) by what was observed (days,)."""
        low, high = quantiles[:, level(0.05)], quantiles[:, level(0.95)]
        is_high = observed >= high_flow
        return cls(
            crps=float(crps(quantiles, LEVELS, observed).mean()),
            width=float((high - low).mean()),
            inside90=(low <= observed) & (observed <= high),
            inside50=(quantiles[:, level(0.25)] <= observed) & (observed <= quantiles[:, level(0.75)]),
            high=is_high,
            low=observed <= low_flow,
            high_score=float(interval_score(low, high, observed, 0.9)[is_high].sum()),
            chances=chance_of_passing(quantiles, LEVELS, high_flow),
            nse=nse(quantiles[:, level(0.5)], observed).value,
        )


def measure(simulated: Any, observed: Any) -> dict[str, Any]:
    """Return the figures of every lead time.

    Args:
        simulated, observed: `score.Simulated` and `score.Observed` of all basins over the whole record.
    """
    record, days = simulated.record, simulated.record.days
    every = [
        Basin(name, days, simulated.discharge[:, at].astype(float), observed.discharge[at].astype(float))
        for at, name in enumerate(basins())
    ]
    fitted = slice(*_bounds(record, Period.parse(VALIDATION)))
    model = fit({b.name: Pairs(b.simulated[fitted], b.observed[fitted]) for b in every})
    by_lead: dict[int, dict[str, list[Judged]]] = {lead: {} for lead in LEADS}
    persistence: dict[int, list[float]] = {lead: [] for lead in LEADS}
    for basin in every:
        if not np.isfinite(basin.observed[slice(*_bounds(record, Period.parse(TEST)))]).any():
            continue
        for lead, rivals, certain in _judge(model, basin, record):
            persistence[lead].append(certain)
            for name, judged in rivals.items():
                by_lead[lead].setdefault(name, []).append(judged)
    return {
        "ensemble": ENSEMBLE.name,
        "fitted_on": VALIDATION,
        "judged_on": TEST,
        "leads": {str(lead): _figures(by_lead[lead], np.array(persistence[lead])) for lead in LEADS},
    }


def _bounds(record: Period, period: Period) -> tuple[int, int]:
    first, last = ((day - record.first).astype(int) for day in (period.first, period.last))
    return int(first), int(last) + 1


def _judge(model: Fit, basin: Basin, record: Period) -> Iterator[tuple[int, dict[str, Judged], float]]:
    first, end = _bounds(record, Period.parse(TEST))
    errors = model.basins[basin.name]
    truth = basin.observed[first:end]
    high_flow, low_flow = np.nanquantile(truth, [1 - HIGH_SHARE, LOW_SHARE])
    last_errors = errors_of(errors, basin.simulated, basin.observed)
    climatology = _Climatology(basin)
    for lead in LEADS:
        t0 = np.arange(first, end - lead, EVERY_DAYS)
        t0 = t0[np.isfinite(basin.observed[t0] + basin.observed[t0 + lead])]
        valid = t0 + lead
        simulated, observed, gap = basin.simulated[valid], basin.observed[valid], np.full(len(t0), float(lead))
        quantiles = {
            "calibrated": model.shape.flow_quantiles(errors, simulated, gap, last_errors[t0]),
            "uncorrected": model.shape.flow_quantiles(errors, simulated, np.full(len(t0), NO_GAP), last_errors[t0]),
            "raw": np.quantile(basin.members[:, valid], LEVELS, axis=0).T,
            "climatology": climatology.quantiles(valid),
        }
        rivals = {name: Judged.of(of, observed, high_flow, low_flow) for name, of in quantiles.items()}
        yield lead, rivals, float(np.abs(observed - basin.observed[t0]).mean())


class _Climatology:
    """The observed flow of other water years near the same day of the year."""

    def __init__(self, basin: Basin) -> None:
        self.observed = basin.observed
        self.years = water_year(basin.days)
        self.of_year = (basin.days - basin.days.astype("datetime64[Y]")).astype(int)
        self.known: dict[tuple[int, int], Array] = {}

    def quantiles(self, at: npt.NDArray[np.int64]) -> Array:
        """Return the quantiles (days, levels) for days by their place in the record."""
        return np.stack([self._of(int(self.years[day]), int(self.of_year[day])) for day in at])

    def _of(self, year: int, day: int) -> Array:
        if (year, day) not in self.known:
            apart = np.abs(self.of_year - day)
            near = (np.minimum(apart, 365 - apart) <= NEAR_DAYS) & (self.years != year) & np.isfinite(self.observed)
            self.known[year, day] = np.quantile(self.observed[near], LEVELS)
        return self.known[year, day]


def _figures(rivals: dict[str, list[Judged]], persistence: Array) -> dict[str, Any]:
    reference = np.array([judged.crps for judged in rivals["climatology"]])
    widths = np.array([judged.width for judged in rivals["climatology"]])
    fined = sum(judged.high_score for judged in rivals["climatology"])
    return {name: _of_rival(judged, reference, persistence, widths, fined) for name, judged in rivals.items()}


def _of_rival(
    judged: list[Judged], climatology: Array, persistence: Array, widths: Array, fined: float
) -> dict[str, Any]:
    scores = np.array([basin.crps for basin in judged])
    return {
        "basins": len(judged),
        "coverage_90": _quartiles([basin.inside90.mean() for basin in judged]),
        "coverage_50": _quartiles([basin.inside50.mean() for basin in judged]),
        "coverage_90_of_high_flows": _share(judged, "high"),
        "coverage_90_of_low_flows": _share(judged, "low"),
        "width_over_climatology": float(np.median([basin.width for basin in judged] / widths)),
        "nse_of_median": _quartiles([basin.nse for basin in judged if basin.nse is not None]),
        "crps_mm": float(scores.mean()),
        "crpss_climatology": _quartiles(1 - scores / climatology),
        "crpss_persistence": _quartiles(1 - scores / persistence),
        "interval_score_of_high_flows_over_climatology": sum(basin.high_score for basin in judged) / fined,
        "reliability": _reliability(judged),
    }


def _share(judged: list[Judged], days: str) -> float:
    inside = np.concatenate([basin.inside90[getattr(basin, days)] for basin in judged])
    return float(inside.mean())


def _reliability(judged: list[Judged]) -> list[dict[str, float]]:
    """Return, by bins of the chance of passing the level of high flows, how often it was passed."""
    chances, passed = (np.concatenate([getattr(basin, part) for basin in judged]) for part in ("chances", "high"))
    bins = np.minimum((chances * 10).astype(int), 9)
    return [
        {"forecast": float(chances[at].mean()), "observed": float(passed[at].mean()), "days": int(at.sum())}
        for at in (bins == number for number in range(10))
        if at.sum() >= LEAST_IN_BIN
    ]


def _quartiles(values: Any) -> list[float]:
    """Return median, quartile and upper quartile."""
    return [float(value) for value in np.quantile(np.asarray(values, float), [0.5, 0.25, 0.75])]
