"""Skill of the shipped ensemble's probabilities: coverage, CRPS, reliability by lead time, with observed weather.

The error model is fitted on the validation years alone. It is judged by reforecasts of the test years, from every day,
one to ten days ahead. With observed weather a forecast is the simulation, for the state of T0 is the simulation's.
Rivals: the spread of the members as it is (raw), the same error model by its tables alone, without its network, and
without the last observed flow; the basin's climatology (the days of other years within a week of the day of the year);
the last observed flow (persistence), and that on its way to the mean flow, by the correlation of flow at the lead in
the validation years (damped persistence).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional import us
from benchmarks.regional.data import TEST, VALIDATION, basins
from benchmarks.regional.members import ENSEMBLE, FOLDS, fold, series
from benchmarks.regional.simulations import Simulated, observe, shipped, simulate
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.climatology.normals import FlowClimatology
from hydrology.scores.scores import nse
from hydrology.uncertainty.error_fit import ErrorPairs, Fit, fit
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel, Shape, between_levels, even_levels
from hydrology.uncertainty.error_network import DaysAhead
from hydrology.verification.forecasts import CALIBRATED, RAW, AtLead, Reforecasts
from hydrology.verification.results import ForecastScores, Reliability, high_flow
from hydrology.verification.verify import CLIMATOLOGY, pit_histogram
from models.error_networks import with_networks
from models.forcing import days_of
from models.pretrained import form
from models.pretrained.form import load

Array = npt.NDArray[np.float64]

LEADS = (1, 2, 3, 5, 10)
EVERY_DAYS = 1
LOW_SHARE = 1 / 3
MIN_IN_BIN = 200  # days, for a bin of the reliability to be reported
TABLES, UNCORRECTED = "tables", "uncorrected"
RIVALS = (CALIBRATED, TABLES, UNCORRECTED, RAW, CLIMATOLOGY)


def interval_score(low: Array, high: Array, observed: Array, share: float) -> Array:
    """Return the score of each day's interval, in the unit of the flow: its width plus a penalty for misses.

    Source: Gneiting and Raftery 2007, doi:10.1198/016214506000001437, equation 43.

    Args:
        share: nominal coverage, 0.9 from the 5 % to the 95 % quantile.
    """
    missed = np.maximum(low - observed, 0) + np.maximum(observed - high, 0)
    return np.asarray(high - low + 2 / (1 - share) * missed)


@dataclass(frozen=True, slots=True)
class Basin:
    """One basin over consecutive days, (days,) each, members (members, days), in mm/day."""

    name: str
    record: Period
    members: Array
    observed: Array

    @property
    def simulated(self) -> Array:
        """The members' mean."""
        return np.asarray(self.members.mean(axis=0))

    def over(self, text: str) -> "Basin":
        """Return it over a period of its record."""
        period = Period.parse(text)
        days = days_of(self.record, period)
        return Basin(self.name, period, self.members[:, days], self.observed[days])

    def pairs(self, text: str) -> ErrorPairs:
        """Return its simulated and observed flow over a period."""
        of_period = self.over(text)
        return ErrorPairs(of_period.simulated, of_period.observed)


@dataclass(frozen=True, slots=True)
class Rival:
    """Scores of one forecaster's quantiles in one basin at one lead time.

    Attributes:
        crps, width: means over the days, mm/day.
        inside90, inside50: which days lie within the central interval.
        high, low: which days are among the highest 2 % and the lowest third of the basin.
        high_score: the sum of the interval scores of the high days.
        chances: of exceeding the level of the high days; `high` is whether it did.
        pit: how many days have their PIT in each tenth, (tenths,).
        nse: of the median; nse_of_mean: of the mean.
    """

    crps: float
    width: float
    inside90: npt.NDArray[np.bool_]
    inside50: npt.NDArray[np.bool_]
    high: npt.NDArray[np.bool_]
    low: npt.NDArray[np.bool_]
    high_score: float
    chances: Array
    pit: Array
    nse: float | None
    nse_of_mean: float | None

    @classmethod
    def of(cls, quantiles: Array, observed: Array, threshold: float, low_flow: float) -> "Rival":
        """Judge quantiles (days, levels) by what was observed (days,)."""
        judged = ForecastScores.of_quantiles(quantiles, LEVELS, observed, threshold)
        assert judged.spread is not None
        low, high = (quantiles[:, LEVELS.index(level)] for level in (0.05, 0.95))
        is_high = observed >= threshold
        return cls(
            crps=float(judged.crps.mean()),
            width=float(judged.spread.width_90.mean()),
            inside90=judged.spread.inside_90,
            inside50=judged.spread.inside_50,
            high=is_high,
            low=observed <= low_flow,
            high_score=float(interval_score(low, high, observed, 0.9)[is_high].sum()),
            chances=judged.chance,
            pit=np.array(pit_histogram(judged.spread.pit)),
            nse=nse(judged.median, observed).value,
            nse_of_mean=nse(_mean(quantiles), observed).value,
        )


@dataclass(frozen=True, slots=True)
class Persistence:
    """The last observed flow as a forecast in one basin at one lead time.

    Attributes:
        error: mean absolute error, mm/day.
        nse: its score; nse_damped: where it goes to the mean flow with the lead.
    """

    error: float
    nse: float | None
    nse_damped: float | None

    @classmethod
    def of(cls, at: AtLead, before: Array, lead: int) -> "Persistence":
        """Judge it by what was observed; `before` is observed flow of other years, NaN where missing."""
        first, later = before[:-lead], before[lead:]
        known = np.isfinite(first + later)
        mean = float(np.nanmean(before)) if known.any() else 0.0
        memory = float(np.corrcoef(first[known], later[known])[0, 1]) if known.any() else 0.0
        damped = mean + memory * (at.last_observed - mean)
        error = float(np.abs(at.observed - at.last_observed).mean())
        return cls(error, nse(at.last_observed, at.observed).value, nse(damped, at.observed).value)


def _mean(quantiles: Array) -> Array:
    """Return the mean of distributions by their quantiles, (days, levels)."""
    upper, across = between_levels(even_levels(200), LEVELS)
    return np.asarray((quantiles[:, upper - 1] * (1 - across) + quantiles[:, upper] * across).mean(axis=1))


def _fitted(every: Iterable[Basin]) -> Fit:
    """Return the error model of basins, with its networks."""
    pairs = {basin.name: basin.pairs(VALIDATION) for basin in every}
    return with_networks(fit(pairs), pairs)


def seen() -> dict[str, Any]:
    """Return the figures of the shipped ensemble, whose error model is fitted to the validation years."""
    every = over_record(shipped(ENSEMBLE), basins())
    model = _fitted(every)
    return {"ensemble": ENSEMBLE.name, **_measured((basin, model.of_basin(basin.name)) for basin in every)}


def combined() -> dict[str, Any]:
    """Return the figures of `freshet-us`, and of the shipped ensemble in the same basins."""
    names, run = us.mean_over_record("both")
    rivals = {"freshet-us": _of_run(run, names), ENSEMBLE.name: over_record(shipped(ENSEMBLE), names)}
    result = dict[str, Any]()
    for name, every in rivals.items():
        model = _fitted(every)
        result[name] = _measured((basin, model.of_basin(basin.name)) for basin in every)
    return result


def unseen() -> dict[str, Any]:
    """Return the figures of basins that neither network nor error model has seen, simulated by five folds.

    The error model of a fold's basins is fitted to those of the other folds, each simulated by the members that have
    not learnt from it.
    """
    return {"folds": FOLDS, **_measured(_never_seen(_of_folds(left_out)))}


def combined_unseen() -> dict[str, Any]:
    """Return the same of the folds of `freshet-us`, and of those of the shipped ensemble in the same basins."""
    of_us = _of_folds(partial(left_out_of_parts, us.common_weights("both")))
    covered = {basin.name for every in of_us.values() for basin in every}
    of_one = _of_folds(lambda number: [basin for basin in left_out(number) if basin.name in covered])
    rivals = {"freshet-us": of_us, ENSEMBLE.name: of_one}
    return {"folds": FOLDS, **{name: _measured(_never_seen(folds)) for name, folds in rivals.items()}}


def _of_folds(left_out_by: Callable[[int], list[Basin]]) -> dict[int, list[Basin]]:
    return {number: left_out_by(number) for number in range(1, FOLDS + 1)}


def _never_seen(folds: Mapping[int, list[Basin]]) -> Iterator[tuple[Basin, BasinErrorModel]]:
    for number, judged in folds.items():
        shape = _regional(basin for other, of_fold in folds.items() if other != number for basin in of_fold)
        for basin in judged:
            yield basin, BasinErrorModel(shape, shape.of_basin(basin.simulated))


def _regional(every: Iterable[Basin]) -> Shape:
    """Return the error model of basins never seen, fitted to basins that were not when they were simulated."""
    pairs = {basin.name: basin.pairs(VALIDATION) for basin in every}
    return with_networks(fit(pairs), pairs).regional


def regional() -> Shape | None:
    """Return the error model of basins never seen, fitted to those of all folds; None where a fold is not trained."""
    if not all((series(f"fold-{number}").folder / form.DESCRIPTION).exists() for number in range(1, FOLDS + 1)):
        return None
    return _regional(chain.from_iterable(_of_folds(left_out).values()))


def regional_of_parts(weights: dict[str, float]) -> Shape:
    """Return that of some parts of `freshet-us`, by the folds of these."""
    return _regional(chain.from_iterable(_of_folds(partial(left_out_of_parts, weights)).values()))


def left_out_of_parts(weights: dict[str, float], number: int) -> list[Basin]:
    """Return the basins that a fold of some parts left out, simulated by their weighted mean."""
    names, run = us.left_out_over_record(weights, number)
    return _of_run(run, names)


def left_out(number: int) -> list[Basin]:
    """Return the basins that a fold left out, simulated by its members."""
    names = fold(number)
    return over_record(shipped(series(f"fold-{number}").folder, unseen=names), names)


def over_record(ensemble: form.Ensemble, names: Sequence[str]) -> list[Basin]:
    """Return basins as an ensemble simulates them over the whole record."""
    return _of_run(simulate(load(ensemble), names), names)


def _of_run(run: Simulated, names: Sequence[str]) -> list[Basin]:
    observed = observe(names, str(run.record)).discharge
    return [
        Basin(name, run.record, run.discharge[:, at].astype(float), observed[at].astype(float))
        for at, name in enumerate(names)
    ]


def _measured(every: Iterable[tuple[Basin, BasinErrorModel]]) -> dict[str, Any]:
    by_lead: dict[int, dict[str, list[Rival]]] = {lead: {} for lead in LEADS}
    persistence: dict[int, list[Persistence]] = {lead: [] for lead in LEADS}
    for basin, error_model in every:
        if not np.isfinite(basin.over(TEST).observed).any():
            continue
        for lead, rivals, certain in _judge(error_model, basin):
            persistence[lead].append(certain)
            for name, rival in rivals.items():
                by_lead[lead].setdefault(name, []).append(rival)
    return {
        "fitted_on": VALIDATION,
        "judged_on": TEST,
        "leads": {str(lead): _figures(by_lead[lead], persistence[lead]) for lead in LEADS},
    }


def _judge(error_model: BasinErrorModel, basin: Basin) -> Iterator[tuple[int, dict[str, Rival], Persistence]]:
    before = basin.over(VALIDATION).observed
    test, climatology = basin.over(TEST), FlowClimatology(basin.record.days, basin.observed, LEVELS)
    reforecasts = Reforecasts(test.record.days, test.members, test.observed, climatology, error_model)
    tables = replace(error_model, shape=replace(error_model.shape, network=None))
    reforecasts_by_tables = replace(reforecasts, error_model=tables)
    high, low = high_flow(test.observed), float(np.nanquantile(test.observed, LOW_SHARE))
    for lead in LEADS:
        at = reforecasts.at(lead, EVERY_DAYS)
        of_tables = reforecasts_by_tables.at(lead, EVERY_DAYS).quantiles[CALIBRATED]
        quantiles = {**at.quantiles, TABLES: of_tables, UNCORRECTED: _uncorrected(error_model, at)}
        rivals = {
            name: Rival.of(of_rival, at.observed, high, low)
            for name in RIVALS
            if not isinstance(of_rival := quantiles[name], Absent)
        }
        yield lead, rivals, Persistence.of(at, before, lead)


def _uncorrected(error_model: BasinErrorModel, at: AtLead) -> Array:
    unknown = np.full(len(at.days), np.nan)
    return error_model.quantiles(DaysAhead.after(at.simulated, unknown, unknown))


def _figures(rivals: dict[str, list[Rival]], persistence: list[Persistence]) -> dict[str, Any]:
    reference = np.array([rival.crps for rival in rivals[CLIMATOLOGY]])
    widths = np.array([rival.width for rival in rivals[CLIMATOLOGY]])
    fined = sum(rival.high_score for rival in rivals[CLIMATOLOGY])
    figures = {name: _of_rival(judged, reference, persistence, widths, fined) for name, judged in rivals.items()}
    return figures | {
        "persistence": {
            "nse": _quartiles([one.nse for one in persistence if one.nse is not None]),
            "nse_damped": _quartiles([one.nse_damped for one in persistence if one.nse_damped is not None]),
        }
    }


def _of_rival(
    judged: list[Rival], climatology: Array, persistence: list[Persistence], widths: Array, fined: float
) -> dict[str, Any]:
    scores, errors = np.array([basin.crps for basin in judged]), np.array([one.error for one in persistence])
    means = [(one.nse_of_mean, other.nse_damped) for one, other in zip(judged, persistence, strict=True)]
    better = [one > other for one, other in means if one is not None and other is not None]
    return {
        "basins": len(judged),
        "coverage_90": _quartiles([basin.inside90.mean() for basin in judged]),
        "coverage_50": _quartiles([basin.inside50.mean() for basin in judged]),
        "coverage_90_of_all_days": float(np.concatenate([basin.inside90 for basin in judged]).mean()),
        "coverage_90_of_high_flows": _share(judged, "high"),
        "coverage_90_of_low_flows": _share(judged, "low"),
        "width_over_climatology": float(np.median([basin.width for basin in judged] / widths)),
        "nse_of_median": _quartiles([basin.nse for basin in judged if basin.nse is not None]),
        "nse_of_mean": _quartiles([basin.nse_of_mean for basin in judged if basin.nse_of_mean is not None]),
        "share_better_than_damped_persistence": float(np.mean(better)) if better else None,
        "crps_mm": float(scores.mean()),
        "crpss_climatology": _quartiles(1 - scores / climatology),
        "crpss_persistence": _quartiles(1 - scores / errors),
        "interval_score_of_high_flows_over_climatology": sum(basin.high_score for basin in judged) / fined,
        "pit": _pit(judged),
        "reliability": _reliability(judged),
    }


def _share(judged: list[Rival], days: str) -> float:
    inside = np.concatenate([basin.inside90[getattr(basin, days)] for basin in judged])
    return float(inside.mean())


def _pit(judged: list[Rival]) -> list[dict[str, Any]]:
    """Return of each tenth which share of all days has its PIT there, and the quartiles of that share over basins."""
    days = np.array([basin.pit for basin in judged])
    together, shares = days.sum(axis=0) / days.sum(), days / days.sum(axis=1, keepdims=True)
    return [
        {"share": float(share), "of_basins": _quartiles(of_basins)}
        for share, of_basins in zip(together, shares.T, strict=True)
    ]


def _reliability(judged: list[Rival]) -> list[dict[str, float]]:
    """Return, by bins of the chance of passing the level of high flows, how often it was passed."""
    chances, passed = (np.concatenate([getattr(basin, part) for basin in judged]) for part in ("chances", "high"))
    shown = Reliability.of(chances, passed, MIN_IN_BIN)
    bins = zip(shown.forecast, shown.observed, shown.days, strict=True)
    return [{"forecast": forecast, "observed": observed, "days": days} for forecast, observed, days in bins]


def _quartiles(values: Any) -> list[float]:
    """Return median, quartile and upper quartile."""
    return [float(value) for value in np.quantile(np.asarray(values, float), [0.5, 0.25, 0.75])]
