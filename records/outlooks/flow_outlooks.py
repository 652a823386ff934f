"""The outlook of a run's flow and season: computed from its stored arrays, and stored."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Annotated

import numpy as np
from sqlalchemy import ForeignKeyConstraint, Index, func, select
from sqlalchemy.orm import Session

from hydrology.alerts import WINDOW_DAYS
from hydrology.base.absent import Absent, absent, known
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, converted, mm_per_day_to_m3s
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.outlook import FlowBasis, FlowOutlook, Level, Peak, Surroundings, flow_outlook, likeliest
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.uncertainty.weighted import of_traces, weighted_mean, weighted_quantiles
from records.database.base import PackedDocument, document
from records.database.stored import Columns, as_record, as_values, stored, table_of, upsert, where_keys
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import CAN_BE_LATEST, NEWEST_FIRST
from records.forecasts.volumes_and_recessions import SeasonNotHeld, Volume
from records.levels import basin_levels
from records.levels.basin_levels import BasinLevels
from records.runs import run_arrays, runs
from records.runs.run_arrays import RunSeries
from records.runs.run_summary import RunCalibration
from records.runs.run_types import RUN_BASINS, RUNS, NewRun, Run, RunBasin, RunBasinKey
from records.runs.run_weather import weights_of_members
from records.runs.tables import Adjustment
from records.series.year_rows import DamagedSeries
from records.versions import promotions


@document
class OutlookBefore:
    """The issue before, as its readers saw it.

    Attributes:
        run, t0: of the newest operational run of an earlier T0.
        likely: its highest likely level; None without one.
        cause: the largest part of the change at the day of the peak (`hydrology.attribution`).
    """

    run: str
    t0: str
    peak: Peak | Absent
    likely: str | None
    chances: Mapping[str, float]
    cause: str | Absent


@document
class SeasonVolume:
    """The volume of a season by a run that holds all of it.

    Attributes:
        period: FIRST..LAST.
        is_calibrated: whether it is of calibrated paths; else of members and traces.
        percent_of_normal: exceeded by `hydrology.climatology.volumes.EXCEEDED_PERCENT`.
    """

    season: str
    period: str
    is_calibrated: bool
    percent_of_normal: tuple[float, ...] | Absent


@document
class FlowOutlooks:
    """The outlook of a run's flow, as issued and as adjusted.

    Attributes:
        window_days: number of days after the last past day that the chances of levels cover.
        adjustment: the published one that `adjusted` follows; both None without one.
        update: the words of that, where it is an update by a measured flow.
    """

    basis: FlowBasis
    window_days: int
    issued: FlowOutlook
    adjustment: str | None
    adjusted: FlowOutlook | None
    update: str | None = None

    @property
    def published(self) -> FlowOutlook:
        """The outlook that readers get: adjusted where a forecaster has published that."""
        return self.adjusted or self.issued


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutlook(FlowOutlooks):
    """The outlook of a run's forecast of a basin; `season` is None where the run does not hold one."""

    before: OutlookBefore | Absent
    season: SeasonVolume | Absent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewNumbers:
    """The numbers of an outlook that all basins are ordered, filtered and coloured by; None where not known.

    Attributes:
        weather_until: the last past day; None in rows from before these were stored.
        chance: the highest calibrated chance of passing a flood level.
        peak: m3/s.
        snow_percent: None also where the snow is uncertain.
    """

    weather_until: Day | None = None
    chance: float | None = None
    peak: float | None = None
    percent_of_normal: float | None = None
    snow_percent: float | None = None


def overview_numbers(run: NewRun, basin: RunBasin, outlook: FlowOutlooks) -> OverviewNumbers:
    shown = outlook.published
    level = likeliest(() if isinstance(shown.levels, Absent) else shown.levels)
    snow = basin.summary.snow
    judged = None if isinstance(snow, Absent) or isinstance(snow.normal_mm, Absent) else snow.against_normal
    return OverviewNumbers(
        weather_until=run.weather_until,
        chance=None if level is None or outlook.basis != "calibrated" else level.chance,
        peak=peak_m3s(shown.peak, basin.area),
        percent_of_normal=known(shown.percent_of_normal),
        snow_percent=None if judged is None or judged.uncertain else judged.percent,
    )


def peak_m3s(peak: Peak | Absent, area: Area | None) -> float | None:
    """Return the height of a peak; None also without an area."""
    if area is None or isinstance(peak, Absent):
        return None
    return float(mm_per_day_to_m3s(peak.height, area=area))


@stored(
    "outlooks",
    ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
    Index(None, "basin_id", "has_season"),
    key=("run_id", "basin_id"),
)
class _StoredOutlook:
    """The outlook of a run's forecast of a basin. It outlives the arrays that it was computed from."""

    run_id: str
    basin_id: str
    has_season: bool
    overview: Annotated[OverviewNumbers, Columns()]
    outlook: Annotated[RunOutlook, PackedDocument(RunOutlook)]


OUTLOOKS = table_of(_StoredOutlook)


def read_outlooks(session: Session, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, RunOutlook]:
    query = select(OUTLOOKS.c.run_id, OUTLOOKS.c.basin_id, OUTLOOKS.c.outlook)
    rows = session.execute(where_keys(query, (OUTLOOKS.c.run_id, OUTLOOKS.c.basin_id), keys))
    return {(run, basin): outlook for run, basin, outlook in rows}


def write_outlooks(
    session: Session, run: NewRun, basins: Sequence[RunBasin], outlooks: Mapping[str, RunOutlook]
) -> None:
    """Store the outlooks of a run's basins; those of others are left out."""
    rows = [
        {"run_id": run.id, "basin_id": basin.basin_id, "has_season": isinstance(one.season, SeasonVolume)}
        | as_values(overview_numbers(run, basin, one))
        | {"outlook": one}
        for basin in sorted(basins, key=attrgetter("basin_id"))
        if (one := outlooks.get(basin.basin_id)) is not None
    ]
    upsert(session, OUTLOOKS, rows)


ARRAYS = ("discharge", run_arrays.CALIBRATED, run_arrays.PATHS, run_arrays.NORMAL)
"""The arrays that it is computed from."""
Series = Mapping[str, RunSeries]


def distribution(series: Series, basin: RunBasin) -> tuple[FlowBasis, FlowAhead] | None:
    """Return a run's flow: calibrated where it is, else of the members; None where no arrays are stored."""
    if (calibrated := runs.calibrated_flow(series)) is not None:
        return "calibrated", calibrated
    return None if "discharge" not in series else ("members", members_flow(series["discharge"], basin))


def members_flow(discharge: RunSeries, basin: RunBasin) -> FlowAhead:
    """Return the flow of every member with every trace of weather, mm/day."""
    paths = discharge.values.reshape(-1, discharge.values.shape[-1])
    weights = weights_of_members(basin.summary.parts, discharge.axes["member"])
    of_paths = of_traces(weights, len(paths) // len(discharge.values))
    quantiles = weighted_quantiles(paths, LEVELS, of_paths).astype(np.float32)  # as the run stores them
    return FlowAhead(LEVELS, quantiles.astype(np.float64), paths.astype(np.float64), of_paths)


Levels = BasinLevels | DamagedSeries
"""The levels of a basin, or what is damaged of its record."""


def flow_outlooks(
    run: NewRun, basin: RunBasin, series: Series, adjustment: Adjustment | None, levels: Levels
) -> FlowOutlooks | None:
    if (found := distribution(series, basin)) is None:
        return None
    basis, flow = found
    around = _surroundings(run, basin, series, found, levels)
    adjusted = None
    if adjustment is not None:
        adjusted = flow_outlook(adjustment.of_flow.adjusted_ahead(flow), around, adjustment.chances)
    return FlowOutlooks(
        basis=basis,
        window_days=around.window,
        issued=flow_outlook(flow, around, {}),
        adjustment=None if adjustment is None else adjustment.id,
        adjusted=adjusted,
        update=None if adjustment is None or adjustment.measured_at is None else adjustment.words,
    )


def _surroundings(
    run: NewRun, basin: RunBasin, series: Series, found: tuple[FlowBasis, FlowAhead], levels: Levels
) -> Surroundings:
    area = basin.area
    no_normal = basin.why(basin.summary.normal_mm)
    return Surroundings(
        past=run.filled_days,
        before=flow_before(run, basin, series, found),
        normal=series[run_arrays.NORMAL].values.astype(np.float64) if run_arrays.NORMAL in series else no_normal,
        area=area,
        levels=absent(Reason.NO_AREA_FOR_LEVELS) if area is None else _in_m3s(levels, area),
        return_period=partial(_return_period, levels, area),
        window=min(run.days_to_come, WINDOW_DAYS),
    )


def _in_m3s(levels: Levels, area: Area) -> list[Level] | Absent:
    """Return the levels that can have an alert, m3/s, or that the basin's record is damaged."""
    if isinstance(levels, DamagedSeries):
        return absent(Reason.FAILED, message=str(levels))
    return [
        as_record(
            Level,
            level,
            level=level.name,
            discharge=float(converted(level.discharge or 0.0, unit=level.unit or "m3/s", into="m3/s", area=area)),
        )
        for level in basin_levels.alert_levels(levels.levels)
    ]


def _return_period(levels: Levels, area: Area | None, flow: float) -> ReturnPeriod | Absent:
    if isinstance(levels, DamagedSeries):
        return absent(Reason.FAILED, message=str(levels))
    if isinstance(levels.return_periods, Absent):
        return levels.return_periods
    if area is None and levels.unit != "mm/day":
        return absent(Reason.NO_AREA_FOR_LEVELS)
    return levels.return_periods.of_flow(float(converted(flow, unit="mm/day", into=levels.unit or "mm/day", area=area)))


def flow_before(run: NewRun, basin: RunBasin, series: Series, found: tuple[FlowBasis, FlowAhead]) -> float | None:
    """Return the flow of the last past day, mm/day: as observed, or as simulated where it was not observed that day.

    Beside calibrated flow the simulated one is corrected as that of the first day ahead is.
    """
    (basis, flow), used, simulated = found, basin.summary.calibration, basin.summary.flow_at_t0_mm
    if basis == "calibrated" and isinstance(used, RunCalibration) and used.last_flow_day == str(run.weather_until):
        return used.last_flow_mm
    if run.filled_days:
        return float(flow.median[run.filled_days - 1])
    if basis == "members" or simulated is None or "discharge" not in series:
        return simulated
    of_members = series["discharge"].values[..., 0].reshape(len(series["discharge"].values), -1).mean(axis=1)
    weights = weights_of_members(basin.summary.parts, series["discharge"].axes["member"])
    first = float(weighted_mean(of_members[:, np.newaxis], weights)[0])
    return simulated * float(flow.median[0]) / first if first > 0 else simulated


@dataclass(frozen=True, slots=True)
class Season:
    """The volume of a season, and the run that it is of."""

    volume: SeasonVolume
    run: Run


def season_of_run(
    session: Session, run: NewRun, basin: RunBasin, series: Mapping[str, RunSeries]
) -> SeasonVolume | Absent | None:
    """Return the season's volume by a run with the weather of other years, or why it is not known. None where the run
    holds none."""
    if run.forcing_kind != "climatology":
        return None
    try:
        volume = volumes_and_recessions.of_arrays(session, run, basin, series)
    except SeasonNotHeld:
        return None
    except DamagedSeries as problem:
        return absent(Reason.FAILED, message=str(problem))
    is_calibrated = not isinstance(volume.calibrated, Absent)
    ahead = volume.calibrated if is_calibrated else volume.raw
    if isinstance(ahead, Absent):
        return ahead
    return SeasonVolume(
        season=str(volume.season),
        period=str(volume.period),
        is_calibrated=is_calibrated,
        percent_of_normal=_percent_of_normal(volume, ahead),
    )


def _percent_of_normal(volume: Volume, ahead: Array) -> tuple[float, ...] | Absent:
    whole, normal = volume.whole(ahead), volume.normal
    if isinstance(whole, Absent):
        return whole
    if isinstance(normal, Absent):
        return normal
    return tuple((100 * whole / normal.mean).tolist()) if normal.mean > 0 else absent(Reason.NORMAL_IS_0)


def newest_seasons(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Season]:
    """Return the season of the newest run that holds one, ordered as in `records.forecasts.latest.newest_on`."""
    promoted = promotions.last_promotions(basins)
    newest_first = (promoted.c.number.desc(), *NEWEST_FIRST)
    place = func.row_number().over(partition_by=OUTLOOKS.c.basin_id, order_by=newest_first).label("place")
    of_version = (promoted.c.basin_id == RUN_BASINS.c.basin_id) & (promoted.c.version_id == RUNS.c.version_id)
    ranked = (
        select(OUTLOOKS.c.run_id, OUTLOOKS.c.basin_id, place)
        .join(RUNS, RUNS.c.id == OUTLOOKS.c.run_id)
        .join(RUN_BASINS, (RUN_BASINS.c.run_id == OUTLOOKS.c.run_id) & (RUN_BASINS.c.basin_id == OUTLOOKS.c.basin_id))
        .join(promoted, of_version)
        .where(OUTLOOKS.c.basin_id.in_(basins), OUTLOOKS.c.has_season, CAN_BE_LATEST)
        .where(RUNS.c.owner.is_(None), RUNS.c.what_if.is_(None), RUNS.c.available_at <= at)
        .subquery()
    )
    chosen = (ranked.c.run_id == OUTLOOKS.c.run_id) & (ranked.c.basin_id == OUTLOOKS.c.basin_id)
    rows = session.execute(select(OUTLOOKS).join(ranked, chosen).where(ranked.c.place == 1)).all()
    of_runs = runs.get_many(session, {row.run_id for row in rows})
    return {
        row.basin_id: Season(row.outlook.season, of_runs[row.run_id])
        for row in rows
        if isinstance(row.outlook.season, SeasonVolume)
    }
