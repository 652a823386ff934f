"""Skill of forecasts on the weather of other years (ESP): 30 and 90 days ahead, and volumes.

Of every tenth basin from the first of November, February, May and August, and of the basins where half or more of the
precipitation is snow the volume of April to July from the first of February, March and April. What is scored is what is
served: the error model as it is shipped, fitted on the validation years, and its paths. Rivals: members with traces
as they are (raw), and climatology: of a day the flow of other years within a week, of a volume those of other years.

Coverage and CRPSS are pooled over basins; CRPS are given in basins' mean flows, so that each counts alike. Their
intervals are of water years drawn again (`hydrology.scores.bootstrap`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import TEST, VALIDATION, basins, opened
from benchmarks.regional.members import ENSEMBLE
from benchmarks.regional.seasonal.hindcasts import Hindcast, hindcasts, read_forcings
from benchmarks.regional.snow_cells import snowy
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day, water_year
from hydrology.climatology.normals import FlowClimatology
from hydrology.climatology.volumes import MELT, Season, depths
from hydrology.scores.bootstrap import ratio_interval
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel
from hydrology.verification.forecasts import CALIBRATED, RAW
from hydrology.verification.results import ForecastScores
from hydrology.verification.verify import CLIMATOLOGY
from models.ensemble import Ensemble
from models.forcing import days_of
from models.pretrained import attachments, form
from operations.forecasting.calibrated_flow import CalibratedFlow, Calibration, LastFlow
from operations.forecasting.weather_ahead import RunDays
from operations.states.advance_states import ONE_DAY
from records.runs.run_summary import RunCalibration

Array = npt.NDArray[np.float64]

EVERY_BASIN = 10
ISSUES = ("11-01", "02-01", "05-01", "08-01")
LEADS = (30, 90)
SNOW_ISSUES = ("02-01", "03-01", "04-01")
RIVALS = (CALIBRATED, RAW, CLIMATOLOGY)


@dataclass(slots=True)
class Verdicts:
    """What was forecast of many basins and issues, and what came, as lists of equal length.

    Attributes:
        years: water years of the first day ahead.
        observed: over the basin's mean flow, as are the quantiles (levels,) of each rival.
    """

    basins: list[str] = field(default_factory=list)
    years: list[int] = field(default_factory=list)
    observed: list[float] = field(default_factory=list)
    quantiles: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in RIVALS})

    def add(self, basin: str, year: int, observed: float, quantiles: Mapping[str, Array], scale: float) -> None:
        """Add one forecast."""
        self.basins.append(basin)
        self.years.append(year)
        self.observed.append(observed / scale)
        for name in RIVALS:
            self.quantiles[name].append(quantiles[name] / scale)

    def figures(self) -> dict[str, Any]:
        """Return what each rival is worth."""
        observed = np.array(self.observed)
        judged = {
            name: ForecastScores.of_quantiles(np.array(self.quantiles[name]), LEVELS, observed, 0.0) for name in RIVALS
        }
        return {
            "forecasts": len(observed),
            "basins": len(set(self.basins)),
            **{name: self._of_rival(judged[name], judged[CLIMATOLOGY], observed) for name in RIVALS},
        }

    def _of_rival(self, judged: ForecastScores, climatology: ForecastScores, observed: Array) -> dict[str, Any]:
        assert judged.spread is not None
        years, names = np.array(self.years), np.array(self.basins)
        ones = np.ones(len(observed))
        skill = [
            1 - judged.crps[names == name].sum() / climatology.crps[names == name].sum() for name in np.unique(names)
        ]
        return {
            "coverage_90": _ratio(judged.spread.inside_90, ones, years),
            "coverage_50": _ratio(judged.spread.inside_50, ones, years),
            "crps": float(judged.crps.mean()),
            "crpss": _skill(judged.crps, climatology.crps, years),
            "crpss_of_basins": _quartiles(skill),
            "correlation_of_basins": _quartiles(_correlations(names, judged.median, observed)),
        }


def _ratio(numerator: npt.NDArray[Any], denominator: Array, years: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return the ratio of two sums, with its interval of water years drawn again."""
    above, below = (
        np.array([values[years == year].sum(dtype=float) for year in np.unique(years)])
        for values in (numerator, denominator)
    )
    return {"value": float(above.sum() / below.sum()), "interval": ratio_interval(above, below)}


def _skill(crps: Array, reference: Array, years: npt.NDArray[np.int64]) -> dict[str, Any]:
    ratio = _ratio(crps, reference, years)
    low, high = ratio["interval"]
    return {"value": 1 - ratio["value"], "interval": (1 - high, 1 - low)}


def _correlations(names: npt.NDArray[np.str_], forecast: Array, observed: Array) -> list[float]:
    """Return the correlation of each basin's forecasts with what came, of those with three issues or more."""
    chosen = [names == name for name in np.unique(names)]
    return [float(np.corrcoef(forecast[of], observed[of])[0, 1]) for of in chosen if of.sum() >= 3]


def _quartiles(values: Sequence[float]) -> list[float]:
    """Return median, quartile and upper quartile."""
    return [float(value) for value in np.nanquantile(np.asarray(values, float), [0.5, 0.25, 0.75])]


@dataclass(frozen=True, slots=True)
class Truth:
    """What was observed of a basin over the record, (days,) in mm/day, and its error model as it is shipped."""

    name: str
    record: Period
    flow: Array
    errors: attachments.ShippedErrors

    def calibrated(self, hindcast: Hindcast, flow: Array, recent: Array) -> CalibratedFlow:
        """Return what the service makes of a forecast of the basin.

        Args:
            flow: the members' mean, (traces, leads).
            recent: of the days until T0.
        """
        t0, of_basin = hindcast.days.t0, self.errors.basins[self.name]
        until = Period(t0 - len(recent) + 1, t0)
        observed = self.flow[days_of(self.record, until)]
        known = np.flatnonzero(np.isfinite(observed))
        last = None
        if len(known):
            at = int(known[-1])
            last = LastFlow(until.first + at, observed[: at + 1], recent)
        shown = RunCalibration(
            kind="observed",
            sha256="",
            weather="observed",
            weather_issues=None,
            fitted_on=str(self.errors.period),
            own_days=of_basin.days,
            last_flow_day=None,
            last_flow_mm=None,
            simulated_mm=None,
        )
        error_model = BasinErrorModel.of(self.errors.shape, self.errors.regional, of_basin)
        return Calibration(error_model, None, hindcast.days, last, shown).of(flow)

    def volumes(self, days: Period) -> Array:
        """Return the volumes of the same days in other years."""
        season = Season(*((int(str(end)[5:7]), int(str(end)[8:])) for end in (days.first, days.last)))
        return np.array(list(depths(self.flow, self.record, season, days).values()))


def measure(ensemble: Ensemble, observe: Any) -> dict[str, Any]:
    """Return the figures.

    Args:
        observe: `score.observe`.
    """
    shipped = attachments.read_errors(form.read(ENSEMBLE))
    assert shipped is not None
    ahead, melt = issues_of(ISSUES, LEADS[-1]), issues_of(SNOW_ISSUES, None)
    days_ahead, spans, april_to_july = (defaultdict[str, Verdicts](Verdicts) for _ in range(3))
    for hindcast, at, truth in _forecasts(ensemble, observe, shipped, basins()[::EVERY_BASIN], ahead):
        flow, calibrated = _both(hindcast, at, truth)
        climatology = FlowClimatology(truth.record.days, truth.flow, LEVELS)
        for lead in LEADS:
            _add_day(days_ahead[str(lead)], hindcast, truth, lead, flow, calibrated, climatology)
            _add_volume(spans[str(lead)], hindcast, truth, slice(0, lead), flow, calibrated)
    with_snow = opened()
    names = snowy(with_snow)
    with_snow.close()
    for hindcast, at, truth in _forecasts(ensemble, observe, shipped, names, melt):
        flow, calibrated = _both(hindcast, at, truth)
        days = slice(hindcast.days.horizon - len(MELT.after(hindcast.days.t0)), None)
        issue = str(hindcast.days.ahead.first)[5:]
        _add_volume(april_to_july[issue], hindcast, truth, days, flow, calibrated)
    return {
        "ensemble": ENSEMBLE.name,
        "fitted_on": VALIDATION,
        "judged_on": TEST,
        "days_ahead": {lead: verdicts.figures() for lead, verdicts in days_ahead.items()},
        "volumes_of_days": {span: verdicts.figures() for span, verdicts in spans.items()},
        "april_to_july_from": {issue: verdicts.figures() for issue, verdicts in april_to_july.items()},
    }


def issues_of(first_days: Sequence[str], horizon: int | None) -> list[RunDays]:
    """Return the issues of the test years, in order: all that is ahead of them lies in these years.

    Args:
        first_days: `MM-DD` of the first days ahead.
        horizon: days; None for until the end of July.
    """
    test = Period.parse(TEST)
    firsts = sorted(
        day(f"{year}-{first}") for year in np.unique(test.days.astype("datetime64[Y]")) for first in first_days
    )
    issues = [RunDays(first - ONE_DAY, horizon or len(Period(first, MELT.after(first).last))) for first in firsts]
    return [issue for issue in issues if test.overlap(issue.ahead) == issue.ahead and issue.t0 > test.first]


def _forecasts(
    ensemble: Ensemble,
    observe: Any,
    shipped: attachments.ShippedErrors,
    names: Sequence[str],
    issues: Sequence[RunDays],
) -> Iterator[tuple[Hindcast, int, Truth]]:
    """Yield every issue of every basin that has an error model, with its place in the hindcast."""
    forcings = read_forcings(ensemble, names)
    record = forcings[0].period
    observed = observe(names, str(record)).discharge.astype(np.float64)
    truths = [Truth(name, record, flow, shipped) for name, flow in zip(names, observed, strict=True)]
    for hindcast in hindcasts(ensemble, forcings, issues):
        print(hindcast.days, flush=True)
        for at, truth in enumerate(truths):
            if truth.name in shipped.basins:
                yield hindcast, at, truth


def _both(hindcast: Hindcast, at: int, truth: Truth) -> tuple[Array, CalibratedFlow]:
    """Return the flow of a basin (members, traces, leads), and what the service makes of it."""
    flow = hindcast.discharge[:, at].astype(np.float64)
    return flow, truth.calibrated(hindcast, flow.mean(axis=0), hindcast.recent[at].astype(np.float64))


def _add_day(
    verdicts: Verdicts,
    hindcast: Hindcast,
    truth: Truth,
    lead: int,
    flow: Array,
    calibrated: CalibratedFlow,
    climatology: FlowClimatology,
) -> None:
    valid = hindcast.days.t0 + lead
    observed = float(truth.flow[int((valid - truth.record.first).astype(int))])
    if not np.isfinite(observed):
        return
    of_years = climatology.quantiles(np.array([valid]))
    assert not isinstance(of_years, Absent)
    quantiles = {
        CALIBRATED: calibrated.quantiles[:, lead - 1].astype(np.float64),
        RAW: np.quantile(flow[..., lead - 1], LEVELS),
        CLIMATOLOGY: of_years[0],
    }
    verdicts.add(truth.name, _year(hindcast), observed, quantiles, float(np.nanmean(truth.flow)))


def _add_volume(
    verdicts: Verdicts, hindcast: Hindcast, truth: Truth, days: slice, flow: Array, calibrated: CalibratedFlow
) -> None:
    ahead = hindcast.days.ahead.days[days]
    period = Period(ahead[0], ahead[-1])
    observed = float(truth.flow[days_of(truth.record, period)].sum())
    others = truth.volumes(period)
    if not np.isfinite(observed) or not len(others):
        return
    quantiles = {
        CALIBRATED: np.quantile(calibrated.paths[:, days].sum(axis=1, dtype=np.float64), LEVELS),
        RAW: np.quantile(flow[..., days].sum(axis=-1), LEVELS),
        CLIMATOLOGY: np.quantile(others, LEVELS),
    }
    verdicts.add(truth.name, _year(hindcast), observed, quantiles, float(np.nanmean(truth.flow)) * len(period))


def _year(hindcast: Hindcast) -> int:
    return int(water_year(np.array([hindcast.days.ahead.first]))[0])
