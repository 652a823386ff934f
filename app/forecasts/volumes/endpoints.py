"""/v1/basins/{basin}/volumes"""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator

from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.forecasts import lookup
from app.forecasts.lookup import PROBLEMS
from app.forecasts.volumes import service, table
from app.forecasts.volumes.schemas import VolumesOfRun
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from hydrology.climatology.volumes import SEASON, Season
from jobspec.fields import read_season
from records.forecasts import seasonal_volumes
from records.forecasts.seasonal_volumes import SeasonNotHeld

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
        shown = service.volumes_of_run(session, seasonal_volumes.newest(session, basin, now, asked), asked, now)
    else:
        shown = service.volumes_of_run(session, lookup.of_run(session, run, basin), asked, None)
    return answer.of_basin(shown, table.of_volumes)
