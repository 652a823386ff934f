"""/v1/basins/{basin}/volumes: seasonal volumes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, Field
from sqlalchemy.orm import Session

from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.exports.table import Column, Table, constant, numbers
from app.forecasts.discharge import Calibration, Representation, calibration_of
from app.forecasts.header import header, missing_in_header
from app.forecasts.lookup import PROBLEMS
from app.forecasts.schemas import RunOfBasin
from app.forecasts.table import run_columns
from app.http import json_numbers
from app.http.base_schema import Area, Missing, Model, Period
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.climatology.volumes import EXCEEDED_PERCENT, SEASON, Normal, Observed, Season, million_m3
from jobspec.fields import read_season
from records.basins.basins import Site
from records.forecasts import seasonal_volumes
from records.forecasts.latest import Latest, result_of
from records.forecasts.seasonal_volumes import SeasonNotHeld, Volume

Exceeded = list[float]
PERCENTS = "one value for each of `exceeded_percent`"


class VolumeQuantiles(Model):
    """Volumes exceeded with given chances: of the whole season, and of its days after T0."""

    depth: Exceeded | None = Field(description=f"Of the whole season, mm, {PERCENTS}: the observed part included.")
    volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")
    percent_of_normal: Exceeded | None = Field(description=f"The same in % of the normal mean, {PERCENTS}.")
    ahead_depth: Exceeded = Field(description=f"Of the days after T0, mm, {PERCENTS}.")
    ahead_volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")


class ObservedVolume(Model):
    """The part of the season observed until T0."""

    period: Period
    days: int = Field(description="Number of observed days.")
    missing_days: int = Field(
        description="Number of days without observation; their water is not included in any number."
    )
    depth: float = Field(description="Of the observed days, mm.")
    volume: float | None = Field(description="The same in million m³.")


class NormalVolume(Model):
    """The volume of the season in other years with complete observations."""

    mean_depth: float = Field(description="mm.")
    median_depth: float = Field(description="mm.")
    mean_volume: float | None = Field(description="Million m³.")
    median_volume: float | None = Field(description="Million m³.")
    years: int = Field(description="Number of years; the season's own year is not included.")
    first_year: int = Field(description="The year in which the first season begins.")
    last_year: int


class VolumesOfRun(RunOfBasin):
    """A seasonal volume."""

    season: str = Field(description="The season, as days of every year.", examples=["04-01..07-31"])
    period: Period = Field(description="The season of this forecast: the first that had not ended at T0.")
    ahead: Period = Field(description="Its days after T0.")
    exceeded_percent: list[int] = Field(
        description="The chances with which the volumes are exceeded, %. 50 is the median, 90 a low volume."
    )
    area: Area | None = Field(description="The drainage area used for depths.")
    calibrated: VolumeQuantiles | None = Field(
        description="Corrected by the errors of past forecasts: from equally likely paths of calibrated flow."
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`; its flow in mm/day.")
    raw: VolumeQuantiles | None = Field(
        description="Of every member with every trace of weather: not calibrated, and overconfident."
    )
    observed: ObservedVolume | None
    normal: NormalVolume | None
    missing: Missing


NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


@dataclass(frozen=True, slots=True)
class _ValueAndReasons:
    """A part of the answer, and why fields of it are null by their names."""

    part: VolumeQuantiles | None
    missing: dict[str, Absent]


def volumes_of_run(session: Session, latest: Latest, season: Season | None, at: datetime | None) -> VolumesOfRun:
    """Return the seasonal volume of a run; `at`: clock time for the newest run."""
    volume, basin = seasonal_volumes.of_run(session, latest, season), latest.basin
    calibrated, raw = (_part_of_answer(volume, name, getattr(volume, name)) for name in ("calibrated", "raw"))
    missing = missing_in_header(basin) | calibrated.missing | raw.missing
    calibration = (
        calibration_of(latest.run, basin, Representation("mm/day", members=False)) if calibrated.part else None
    )
    if calibration is None:
        missing["calibration"] = basin.why_not_calibrated
    observed = _observed(volume)
    if observed is None:
        seen = volume.observed
        missing["observed"] = seen if isinstance(seen, Absent) else absent(Reason.SEASON_NOT_STARTED)
    if isinstance(volume.normal, Absent):
        missing["normal"] = volume.normal
    if volume.area is None:
        fields = ["area", *(["observed.volume"] if observed else [])]
        fields += ["normal.mean_volume", "normal.median_volume"] if isinstance(volume.normal, Normal) else []
        missing |= dict.fromkeys(fields, NO_AREA)
    return VolumesOfRun(
        **header(latest, at),
        season=str(volume.season),
        period=Period.between(volume.period.first, volume.period.last),
        ahead=Period.between(volume.ahead.first, volume.ahead.last),
        exceeded_percent=list(EXCEEDED_PERCENT),
        area=None if volume.area is None else Area.of(volume.area),
        calibrated=calibrated.part,
        calibration=calibration,
        raw=raw.part,
        observed=observed,
        normal=_normal(volume),
        missing=texts(missing),
    )


def _part_of_answer(volume: Volume, name: str, ahead: Array | Absent) -> _ValueAndReasons:
    if isinstance(ahead, Absent):
        return _ValueAndReasons(None, {name: ahead})
    missing: dict[str, Absent] = {} if volume.area else {f"{name}.ahead_volume": NO_AREA, f"{name}.volume": NO_AREA}
    whole = volume.whole(ahead)
    if isinstance(volume.normal, Absent):
        missing[f"{name}.percent_of_normal"] = volume.normal
    elif volume.normal.mean == 0:
        missing[f"{name}.percent_of_normal"] = absent(Reason.NORMAL_IS_0)
    if isinstance(whole, Absent):
        missing |= {f"{name}.{part}": whole for part in ("depth", "volume", "percent_of_normal")}
    of_whole = None if isinstance(whole, Absent) else whole
    normal = volume.normal.mean if isinstance(volume.normal, Normal) and volume.normal.mean > 0 else None
    part = VolumeQuantiles(
        depth=None if of_whole is None else json_numbers.column(of_whole),
        volume=None if of_whole is None else _in_m3(volume, of_whole),
        percent_of_normal=None if of_whole is None or normal is None else json_numbers.column(100 * of_whole / normal),
        ahead_depth=json_numbers.column(ahead),
        ahead_volume=_in_m3(volume, ahead),
    )
    return _ValueAndReasons(part, missing)


def _observed(volume: Volume) -> ObservedVolume | None:
    seen = volume.observed
    if not isinstance(seen, Observed):
        return None
    return ObservedVolume(
        period=Period.between(seen.period.first, seen.period.last),
        days=len(seen.period) - len(seen.missing),
        missing_days=len(seen.missing),
        depth=rounded(seen.depth),
        volume=_one_in_m3(volume, seen.depth),
    )


def _normal(volume: Volume) -> NormalVolume | None:
    normal = volume.normal
    if isinstance(normal, Absent):
        return None
    return NormalVolume(
        mean_depth=rounded(normal.mean),
        median_depth=rounded(normal.median),
        mean_volume=_one_in_m3(volume, normal.mean),
        median_volume=_one_in_m3(volume, normal.median),
        years=len(normal.years),
        first_year=normal.years[0],
        last_year=normal.years[-1],
    )


def _in_m3(volume: Volume, depths: Array) -> list[float] | None:
    return None if volume.area is None else json_numbers.column(million_m3(depths, volume.area))


def _one_in_m3(volume: Volume, depth: float) -> float | None:
    converted = _in_m3(volume, np.array([depth]))
    return None if converted is None else converted[0]


_COLUMNS = (
    ("depth", "of the whole season", "mm"),
    ("volume", "of the whole season", "1e6 m3"),
    ("percent_of_normal", "of the whole season, of the normal mean", "percent"),
    ("ahead_depth", "of the days after t0", "mm"),
    ("ahead_volume", "of the days after t0", "1e6 m3"),
)


def of_volumes(answer: VolumesOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the seasonal volume exceeded with each chance."""
    rows = len(answer.exceeded_percent)
    area, observed, normal = answer.area, answer.observed, answer.normal
    columns = [
        *run_columns(answer, sites, rows),
        constant("area", "drainage area", "number", area and area.km2, rows, unit="km2"),
        constant("season", "days of every year", "text", answer.season, rows),
        constant("first_day", "first day of the season", "day", answer.period.first_day, rows),
        constant("last_day", "last day of the season", "day", answer.period.last_day, rows),
        Column("exceeded", "chance that the volume is exceeded", "integer", answer.exceeded_percent, "percent"),
        *_quantiles("calibrated", "calibrated volume", answer.calibrated, rows),
        *_quantiles("raw", "volume of the members and traces, not calibrated", answer.raw, rows),
        constant("observed_depth", "observed until t0", "number", observed and observed.depth, rows, unit="mm"),
        constant("observed_volume", "observed until t0", "number", observed and observed.volume, rows, unit="1e6 m3"),
        constant("normal_depth", "mean of other years", "number", normal and normal.mean_depth, rows, unit="mm"),
        constant("normal_volume", "mean of other years", "number", normal and normal.mean_volume, rows, unit="1e6 m3"),
    ]
    return Table(f"{answer.basin}_volume_{answer.t0}", f"Volume of {answer.season} in {answer.basin}", columns)


def _quantiles(prefix: str, meaning: str, shown: VolumeQuantiles | None, rows: int) -> list[Column]:
    return [
        numbers(f"{prefix}_{name}", f"{meaning} {of}", None if shown is None else getattr(shown, name), rows, unit)
        for name, of, unit in _COLUMNS
    ]


router = APIRouter(prefix="/basins", tags=["forecasts"])

SeasonText = Annotated[
    str | None,
    AfterValidator(lambda text: None if text is None else str(read_season(text))),
    Query(
        description="The same days of every year, as `MM-DD..MM-DD`; of those the first that have not ended at T0. By "
        "default April to July where half or more of the precipitation is snow, elsewhere the month of the first day "
        "after T0 and the two after it.",
        json_schema_extra={"pattern": SEASON},
        examples=["04-01..07-31"],
    ),
]


@router.get(
    "/{basin}/volumes",
    summary="Seasonal volume",
    **documented_responses(VolumesOfRun, *PROBLEMS, SeasonNotHeld, formats=TABLES),
)
def read_volumes(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    answer: TableAnswer,
    season: SeasonText = None,
    run: ChosenRun = None,
) -> Response:
    """The seasonal volume exceeded with a chance of 10, 30, 50, 70 and 90 %, in mm and million m³, with the normal and
    the part observed until T0. From the newest run on the weather of other years that covers the season (a job
    `volumes` creates one), or from the run named. `calibrated` comes from equally likely paths of calibrated flow;
    `raw`, from members and traces, is overconfident. Null, with the reason, where it cannot be computed."""
    asked, now = None if season is None else Season.parse(season), clock.now()
    if run is None:
        shown = volumes_of_run(session, seasonal_volumes.newest(session, basin, now, asked), asked, now)
    else:
        shown = volumes_of_run(session, result_of(session, run, basin), asked, None)
    return answer.of_basin(shown, of_volumes)
