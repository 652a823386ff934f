"""Verifies a version's issued forecasts, by the kind of weather, once their flow is observed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period, day, days_between
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by, to_mm_per_day
from hydrology.uncertainty.error_model import LEVELS, MAX_GAP
from hydrology.verification.forecasts import CALIBRATED, IssuedForecasts, Observed
from hydrology.verification.held_out_years import HELD_OUT
from operations.basin_data.dataset import load_discharge
from operations.states.advance_states import ONE_DAY
from operations.verification.error_split import split_errors
from operations.verification.recalibrate import SETTLED_AFTER, last_settled
from records.basins import basins
from records.database.stored import grouped
from records.database.work import Work
from records.forecasts import latest
from records.runs import run_arrays, run_types, runs
from records.runs.run_summary import RunCalibration
from records.series import series
from records.verification import lead_scores, rivals
from records.versions import promotions, versions
from records.versions.versions import Version

log = structlog.get_logger()

LAST_DAYS = np.timedelta64(3 * 366, "D")
"""The newest forecasts of this many days T0 are verified, per kind of weather: intervals need three water years."""

_TOGETHER = 100  # runs whose arrays are read together


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of verifying issued forecasts; of `split` ones, the errors were split by cause now."""

    version_id: str
    basins: tuple[str, ...]
    changed: tuple[str, ...]
    left_out: dict[str, Absent]
    split: int


@dataclass(frozen=True, slots=True)
class _Group:
    """The newest runs of a version with one kind of weather, the oldest first, and their days."""

    weather: str
    runs: Sequence[run_types.Run]
    period: Period

    @property
    def leads(self) -> int:
        return min(max(run.horizon_days for run in self.runs), MAX_GAP)


def verify(work: Work, version_id: str | None = None) -> list[Verified]:
    """Verify a version's operational forecasts against observations, and store the scores.

    Flow counts once it has settled (`recalibrate.SETTLED_AFTER`). A forecast of days that the weights were fitted to
    does not count, nor does one of the error model for days that it was fitted to. Repeating it changes nothing. By
    default each version that is current for a basin is verified.
    """
    with work.database.reading() as session:
        names = [version_id] if version_id else promotions.in_use(session)
        judged = [versions.get(session, name) for name in names]
    return [_verify(work, version) for version in judged]


def _verify(work: Work, version: Version) -> Verified:
    last = last_settled(work.clock)
    with work.database.reading() as session:
        groups = _groups(session, version.id, last)
        basins = runs.basins_with_issued_run(session, [run.id for group in groups for run in group.runs])
    done: list[str] = []
    changed: list[str] = []
    left_out: dict[str, Absent] = {}
    for at, basin in enumerate(basins, start=1):
        with work.database.reading() as session:
            rows = _BasinForecasts(session, version, basin).verify(groups, last, work.clock.wall())
        with work.database.transaction() as session:
            is_new = lead_scores.replace_issued(session, version.id, basin, rows)
        if not rows:
            left_out[basin] = absent(Reason.NO_SETTLED_FLOW, basin=basin, days=int(SETTLED_AFTER.astype(int)))
        else:
            done.append(basin)
            changed += [basin] if is_new else []
        work.show(at, len(basins))
    split = split_errors(work, version, last)
    counts = {"basins": len(done), "changed": len(changed), "left_out": len(left_out), "errors_split": split}
    log.info("verify.done", version=version.id, **counts)
    return Verified(version.id, tuple(done), tuple(changed), left_out, split)


def _groups(session: Session, version: str, last: Day) -> list[_Group]:
    by_weather = grouped((run.weather_name, run) for run in runs.issued_runs(session, version, last - ONE_DAY))
    groups = []
    for weather, of_weather in sorted(by_weather.items()):
        since = max(run.t0 for run in of_weather) - LAST_DAYS
        newest = [run for run in of_weather if run.t0 >= since]
        ends = max(run.last_day for run in newest)
        groups.append(_Group(weather, newest, Period(min(run.t0 for run in newest), min(ends, last))))
    return groups


@dataclass(frozen=True, slots=True)
class _BasinForecasts:
    session: Session
    version: Version
    basin: str

    def verify(self, groups: Sequence[_Group], last: Day, at: datetime) -> list[lead_scores.BasinVerification]:
        observed = self._observed(last)
        return [] if observed is None else [row for group in groups for row in self._of_group(group, observed, at)]

    def _observed(self, last: Day) -> Observed | None:
        record = series.extent(self.session, [self.basin], gauge_product(self.basin), ["discharge"])
        of_flow = record.get((self.basin, "discharge"))
        if of_flow is None or of_flow.first > last:
            return None
        settled = Period(of_flow.first, min(of_flow.last, last))
        flow = load_discharge(self.session, self.basin, self.version.area_products, settled)
        return None if isinstance(flow, Absent) else Observed(settled.first, flow.astype(np.float64))

    def _of_group(
        self, group: _Group, observed: Observed, verified_at: datetime
    ) -> Iterator[lead_scores.BasinVerification]:
        by_id = runs.issued_runs_of_basin(self.session, self.basin, [run.id for run in group.runs])
        issue_days = {
            run.weather_until: (run, by_id[run.id])
            for run in group.runs
            if run.id in by_id and not by_id[run.id].is_spinning_up
        }
        if not issue_days:
            return
        in_order = [issue_days[at] for at in sorted(issue_days)]
        issued = self._issued(in_order, group.leads)
        if not issued.count(observed):
            return
        newest = [used.sha256 for _, of in in_order if not isinstance(used := of.summary.calibration, Absent)]
        judged = [(lead, *of_lead) for lead in issued.leads for of_lead in issued.verify(lead, observed)]
        for rival, theirs in self._rivals([run for run, _ in in_order], group.leads):
            judged += [
                (lead, *of_lead)
                for lead in issued.leads
                for of_lead in issued.verify_rival(rival, theirs, lead, observed)
            ]
        if (adjusted := self._adjusted(group, by_id)) is not None:
            judged += [(lead, *of) for lead in adjusted.leads for of in adjusted.verify_adjusted(lead, observed)]
        for lead, forecaster, season, scores in judged:
            yield lead_scores.BasinVerification(
                version_id=self.version.id,
                basin_id=self.basin,
                origin="issued",
                weather=group.weather,
                first_day=group.period.first,
                last_day=group.period.last,
                forecaster=forecaster,
                lead=lead,
                season=season,
                every_days=None,
                error_model=newest[-1] if newest and forecaster == CALIBRATED else None,
                attributes_assumed=list(in_order[-1][1].summary.attributes_assumed or ()),
                period_use=HELD_OUT if self.version.used_periods else "unknown",  # `_fill` leaves out days that it used
                scores=scores,
                verified_at=verified_at,
            )

    @property
    def _learnt(self) -> list[Period]:
        return [Period.parse(days) for days in self.version.used_periods]

    def _adjusted(self, group: _Group, by_id: Mapping[str, run_types.RunBasin]) -> IssuedForecasts | None:
        """Return the forecasts that were adjusted, as issued (`raw`) and as adjusted (`calibrated`). None without any.

        They are the flow that was adjusted, calibrated where the run has it, on the days from the publication on: what
        was published later is hindsight.
        """
        published = latest.forecasters_adjustments(self.session, [(run, self.basin) for run in by_id])
        some = [run for run in group.runs if (run.id, self.basin) in published]
        if not some:
            return None
        shape, learnt = (len(some), group.leads, len(LEVELS)), self._learnt
        issued, adjusted = np.full(shape, np.nan), np.full(shape, np.nan)
        for at, (run, arrays) in enumerate(zip(some, self._arrays([run.id for run in some]), strict=True)):
            adjustment, used = published[run.id, self.basin], by_id[run.id].summary.calibration
            calibrated = run_arrays.CALIBRATED in arrays and not isinstance(used, Absent)
            flow = arrays[run_arrays.CALIBRATED].values if calibrated else run_arrays.levels_of_members(arrays)
            fitted = [] if isinstance(used, Absent) or not calibrated else [*_fitted_on(used, run)]
            assert adjustment.published_at is not None
            too_late = days_between(run.weather_until, day(adjustment.published_at.date())) - 1  # leads
            for into, quantiles in ((issued, flow), (adjusted, adjustment.of_flow.adjusted(flow))):
                _fill(into[at], quantiles.T, run, [*learnt, *fitted])
                into[at, : max(too_late, 0)] = np.nan
        return IssuedForecasts(_issue_days(some), issued, adjusted, absent(Reason.ERROR_MODELS_LEARNT))

    def _issued(self, issue_days: Sequence[tuple[run_types.Run, run_types.RunBasin]], leads: int) -> IssuedForecasts:
        shape, learnt = (len(issue_days), leads, len(LEVELS)), self._learnt
        raw, calibrated = np.full(shape, np.nan), np.full(shape, np.nan)
        of_runs = self._arrays([run.id for run, _ in issue_days])
        for at, ((run, of_basin), arrays) in enumerate(zip(issue_days, of_runs, strict=True)):
            _fill(raw[at], run_arrays.levels_of_members(arrays).T, run, learnt)
            used = of_basin.summary.calibration
            if run_arrays.CALIBRATED in arrays and not isinstance(used, Absent):
                fitted = _fitted_on(used, run)
                _fill(calibrated[at], arrays[run_arrays.CALIBRATED].values.T, run, [*learnt, *fitted])
        newest = issue_days[-1][1]
        calibration = newest.summary.calibration
        why_not = newest.why_not_calibrated if isinstance(calibration, Absent) else absent(Reason.ERROR_MODELS_LEARNT)
        return IssuedForecasts(_issue_days(run for run, _ in issue_days), raw, calibrated, why_not)

    def _rivals(self, of_runs: Sequence[run_types.Run], leads: int) -> Iterator[tuple[str, Array]]:
        """Yield rivals with their forecasts of the days on which runs were issued, for the days of these runs.

        They are (runs, leads, values), mm/day; NaN where missing, and on days before the issue.
        """
        area = area_by(basins.get(self.session, self.basin).areas, self.version.area_products)
        if area is None:
            return
        days = [day(run.issued_at.date()) for run in of_runs]
        for rival in rivals.list_rivals(self.session, "forecasts"):
            theirs = np.full((len(of_runs), leads, rival.values_per_day), np.nan)
            of_day = rivals.flows_of(self.session, rival.id, self.basin, days)
            for at, (run, issued) in enumerate(zip(of_runs, days, strict=True)):
                if issued in of_day:
                    flow = to_mm_per_day(of_day[issued].T, unit="m3/s", area=area)
                    ahead = np.arange(1, leads + 1) - days_between(run.weather_until, issued)
                    known = (ahead >= 0) & (ahead < len(flow))
                    theirs[at, known] = flow[ahead[known]]
            yield rival.id, theirs

    def _arrays(self, ids: Sequence[str]) -> Iterator[Mapping[str, run_arrays.RunSeries]]:
        for first in range(0, len(ids), _TOGETHER):
            keys = [(run, self.basin) for run in ids[first : first + _TOGETHER]]
            names = ("discharge", run_arrays.LEVELS_OF_MEMBERS, run_arrays.CALIBRATED)
            by_key = runs.series_of_many(self.session, keys, names)
            yield from (by_key[key] for key in keys)


def _issue_days(of_runs: Iterable[run_types.Run]) -> Days:
    return np.array([run.weather_until for run in of_runs], dtype="datetime64[D]")


def _fill(into: Array, quantiles: npt.NDArray[np.floating], run: run_types.Run, learnt: Sequence[Period]) -> None:
    """Write quantiles (leads, levels) of the verified leads after the past days that lie in no learnt period."""
    last_past, to_come = run.weather_until, quantiles[run.filled_days :]
    for lead in range(1, min(len(into), len(to_come)) + 1):
        days = Period(last_past, last_past + np.timedelta64(lead, "D"))
        if not any(days.overlap(period) for period in learnt):
            into[lead - 1] = to_come[lead - 1]


def _fitted_on(calibration: RunCalibration, run: run_types.Run) -> Iterator[Period]:
    """Yield the days that a run's calibration was fitted to. For past forecasts, from their T0."""
    yield Period.parse(calibration.fitted_on)
    if run.weather is not None and run.weather.recalibration.fitted_on is not None:
        of_t0 = Period.parse(run.weather.recalibration.fitted_on)
        yield Period(of_t0.first, of_t0.last + np.timedelta64(run.horizon_days, "D"))
