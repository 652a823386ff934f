"""/v1/basins/{basin}/volumes: seasonal volumes."""

from datetime import datetime
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, Field
from sqlalchemy.orm import Session

from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.forecasts.discharge import Calibration, calibration_of
from app.forecasts.header import RunOfBasin, header, run_table
from app.forecasts.lookup import PROBLEMS
from app.http.base_schema import EXPLAINED, Area, Missing, Model, Period, Series, maybe
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.climatology.volumes import EXCEEDED_PERCENT, SEASON, Observed, Season, million_m3
from jobspec.fields import read_season
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import Latest, result_of

Exceeded = list[float]
PERCENTS = "one value for each of `exceeded_percent`"


class VolumeQuantiles(Model):
    """Volumes exceeded with given chances: of the whole season, and of its days after T0."""

    depth: Annotated[Exceeded | None, Series("of the whole season", "mm")] = Field(
        description=f"Of the whole season, mm, {PERCENTS}: the observed part included."
    )
    volume: Annotated[Exceeded | None, Series("of the whole season", "1e6 m3")] = Field(
        description=f"The same in million m³, {PERCENTS}."
    )
    percent_of_normal: Annotated[Exceeded | None, Series("of the whole season, of the normal mean", "percent")] = Field(
        description=f"The same in % of the normal mean, {PERCENTS}."
    )
    ahead_depth: Annotated[Exceeded, Series("of the days after t0", "mm")] = Field(
        description=f"Of the days after T0, mm, {PERCENTS}."
    )
    ahead_volume: Annotated[Exceeded | None, Series("of the days after t0", "1e6 m3")] = Field(
        description=f"The same in million m³, {PERCENTS}."
    )


class ObservedVolume(Model):
    """The part of the season observed until T0."""

    period: Period
    days: int = Field(description="Number of observed days.")
    missing_days: int = Field(
        description="Number of days without observation; their water is not included in any number."
    )
    depth: Annotated[float, Series("observed until t0", "mm")] = Field(description="Of the observed days, mm.")
    volume: Annotated[float | None, Series("observed until t0", "1e6 m3")] = Field(
        description="The same in million m³."
    )


class NormalVolume(Model):
    """The volume of the season in other years with complete observations."""

    mean_depth: Annotated[float, Series("mean of other years", "mm", column="depth")] = Field(description="mm.")
    median_depth: float = Field(description="mm.")
    mean_volume: Annotated[float | None, Series("mean of other years", "1e6 m3", column="volume")] = Field(
        description="Million m³."
    )
    median_volume: float | None = Field(description="Million m³.")
    years: int = Field(description="Number of years; the season's own year is not included.")
    first_year: int = Field(description="The year in which the first season begins.")
    last_year: int


class VolumesOfRun(RunOfBasin):
    """A seasonal volume."""

    season: Annotated[str, Series("days of every year")] = Field(
        description="The season, as days of every year.", examples=["04-01..07-31"]
    )
    period: Annotated[Period, Series("{} of the season", column="{}")] = Field(
        description="The season of this forecast: the first that had not ended at T0."
    )
    ahead: Period = Field(description="Its days after T0.")
    exceeded_percent: Annotated[
        list[int], Series("chance that the volume is exceeded", "percent", column="exceeded")
    ] = Field(description="The chances with which the volumes are exceeded, %. 50 is the median, 90 a low volume.")
    area: Annotated[Area | None, Series("drainage area", column="area", after="forcing_kind")] = Field(
        description="The drainage area used for depths."
    )
    calibrated: Annotated[VolumeQuantiles | None, Series("calibrated volume {}")] = Field(
        description="Corrected by the errors of past forecasts: from equally likely paths of calibrated flow."
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`; its flow in mm/day.")
    raw: Annotated[VolumeQuantiles | None, Series("volume of the members and traces, not calibrated {}")] = Field(
        description="Of every member with every trace of weather: not calibrated, and overconfident."
    )
    observed: Annotated[ObservedVolume | None, Series("{}")]
    normal: Annotated[NormalVolume | None, Series("{}")]
    missing: Missing = EXPLAINED


NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


def volumes_of_run(session: Session, latest: Latest, season: Season | None, at: datetime | None) -> VolumesOfRun:
    """Return the seasonal volume of a run; `at`: clock time for the newest run."""
    volume, basin = volumes_and_recessions.of_run(session, latest, season), latest.basin
    calibrated = _quantiles(volume, volume.calibrated)
    calibration = basin.why_not_calibrated if isinstance(calibrated, Absent) else calibration_of(latest, "mm/day")
    return VolumesOfRun(
        **header(latest, at),
        season=str(volume.season),
        period=maybe(volume.period),
        ahead=maybe(volume.ahead),
        exceeded_percent=list(EXCEEDED_PERCENT),
        area=maybe(volume.area or NO_AREA, Area.of),
        calibrated=maybe(calibrated),
        calibration=maybe(calibration),
        raw=maybe(_quantiles(volume, volume.raw)),
        observed=maybe(_observed(volume)),
        normal=maybe(_normal(volume)),
    )


def _quantiles(volume: volumes_and_recessions.Volume, ahead: Array | Absent) -> VolumeQuantiles | Absent:
    if isinstance(ahead, Absent):
        return ahead
    whole, normal = volume.whole(ahead), volume.normal
    mean = normal if isinstance(normal, Absent) else normal.mean or absent(Reason.NORMAL_IS_0)
    percent = whole if isinstance(whole, Absent) else mean if isinstance(mean, Absent) else 100 * whole / mean
    return VolumeQuantiles(
        depth=maybe(whole),
        volume=maybe(_in_m3(volume, whole)),
        percent_of_normal=maybe(percent),
        ahead_depth=maybe(ahead),
        ahead_volume=maybe(_in_m3(volume, ahead)),
    )


def _observed(volume: volumes_and_recessions.Volume) -> ObservedVolume | Absent:
    seen = volume.observed
    if not isinstance(seen, Observed):
        return seen or absent(Reason.SEASON_NOT_STARTED)
    return ObservedVolume(
        period=maybe(seen.period),
        days=len(seen.period) - len(seen.missing),
        missing_days=len(seen.missing),
        depth=rounded(seen.depth),
        volume=_one_in_m3(volume, seen.depth),
    )


def _normal(volume: volumes_and_recessions.Volume) -> NormalVolume | Absent:
    normal = volume.normal
    if isinstance(normal, Absent):
        return normal
    return NormalVolume(
        mean_depth=rounded(normal.mean),
        median_depth=rounded(normal.median),
        mean_volume=_one_in_m3(volume, normal.mean),
        median_volume=_one_in_m3(volume, normal.median),
        years=len(normal.years),
        first_year=normal.years[0],
        last_year=normal.years[-1],
    )


def _in_m3(volume: volumes_and_recessions.Volume, depths: Array | Absent) -> Array | Absent:
    if isinstance(depths, Absent):
        return depths
    return NO_AREA if volume.area is None else million_m3(depths, volume.area)


def _one_in_m3(volume: volumes_and_recessions.Volume, depth: float) -> Any:
    return maybe(_in_m3(volume, np.array([depth])), lambda converted: rounded(float(converted[0])))


TABLE = run_table("volume", "Volume of {0.season} in {0.basin}")
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
    **documented_responses(VolumesOfRun, *PROBLEMS, volumes_and_recessions.SeasonNotHeld, formats=TABLES),
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
        shown = volumes_of_run(session, volumes_and_recessions.newest(session, basin, now, asked), asked, now)
    else:
        shown = volumes_of_run(session, result_of(session, run, basin), asked, None)
    return answer.of_basin(shown, TABLE)
