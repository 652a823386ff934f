"""/v1/basins/{basin}/volumes"""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator

from app.exports.answers import answered
from app.exports.formats import TABLES
from app.exports.negotiation import TableFormat, documented_formats
from app.forecasts import lookup
from app.forecasts.volumes import service, table
from app.forecasts.volumes.schemas import VolumesOfRun
from app.http.conditional import NOT_MODIFIED, IfNoneMatch
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.problems import documented
from hydrology.climatology.volumes import SEASON, Season
from jobspec.fields import read_season
from records.basins.basins import UnknownBasin, sites
from records.forecasts import seasonal_volumes
from records.forecasts.latest import NoForecast, NoModel
from records.forecasts.seasonal_volumes import SeasonNotHeld
from records.runs.runs import UnknownRun

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
    responses=NOT_MODIFIED
    | documented(UnknownBasin, NoModel, NoForecast, UnknownRun, SeasonNotHeld)
    | documented_formats(*TABLES),
    response_model=VolumesOfRun,
    response_model_exclude_unset=True,
)
def read_volumes(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: TableFormat,
    season: SeasonText = None,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> VolumesOfRun | Response:
    """The seasonal volume exceeded with a chance of 10, 30, 50, 70 and 90 %, in mm and million m³, with the normal and
    the part observed until T0. From the newest run on the weather of other years that covers the season (a job
    `volumes` creates one), or from the run named. `calibrated` comes from equally likely paths of calibrated flow;
    `raw`, from members and traces, is overconfident. Null, with the reason, where it cannot be computed."""
    asked, now = None if season is None else Season.parse(season), clock.now()
    if run is None:
        shown = service.volumes_of_run(session, seasonal_volumes.newest(session, basin, now, asked), asked, now)
    else:
        shown = service.volumes_of_run(session, lookup.of_run(session, run, basin), asked, None)
    places = sites(session, [basin])
    return answered(chosen, shown, response, if_none_match, lambda: table.of_volumes(shown, places), places)
