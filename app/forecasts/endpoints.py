"""/v1/basins/{basin}/forecasts and /v1/runs"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from sqlalchemy.orm import Session

from app.conditional import FOR_EVER, SHORTLY, IfNoneMatch, holds
from app.dependencies import BasinId, Reading, ServiceClock
from app.forecasts import service
from app.forecasts.schemas import Forecast, Units
from app.forecasts.service import NoArea, Representation
from app.problems import documented
from records.basins import UnknownBasin
from records.latest import Latest, NoForecast, NoModel
from records.runs import UnknownRun

router = APIRouter(tags=["forecasts"])

DischargeUnits = Annotated[
    Units, Query(description="The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.")
]
WithMembers = Annotated[bool, Query(description="Whether to tell every member and the cells at T0, not only the mean.")]
Format = Annotated[Literal["json"], Query(description="The format of the answer.")]
RunId = Annotated[
    str,
    Path(description="A run's id.", pattern="^[0-9A-Za-z_-]{1,64}$", examples=["011ccb1a3a8003f9c24d1e"]),
]
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The copy that you hold is still the same."}}


@router.get(
    "/basins/{basin}/forecasts/latest",
    summary="The latest forecast of a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, NoArea),
    response_model=Forecast,
    response_model_exclude_unset=True,
)
def read_latest_forecast(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    format: Format = "json",  # noqa: A002, ARG001 - the parameter's name; JSON is the only one yet
    if_none_match: IfNoneMatch = None,
) -> Forecast | Response:
    """The newest operational forecast of the model version that is current for the basin, as the service's clock
    sees it: discharge (m³/s unless asked otherwise) with its quantiles, water in the basin (mm) with the part that
    reads as snow, precipitation and loss (mm/day), and the water balance (mm) of every member.

    Where a newer run was withheld or failed, the answer is the older one, and `superseded_by` says why."""
    found = service.latest(session, basin, clock.now())
    return _answer(session, response, found, Representation(units, members), if_none_match, SHORTLY)


@router.get(
    "/runs/{run}/basins/{basin}",
    summary="What a given run says of a basin",
    responses=NOT_MODIFIED | documented(UnknownRun, NoArea),
    response_model=Forecast,
    response_model_exclude_unset=True,
)
def read_run_of_basin(
    session: Reading,
    response: Response,
    run: RunId,
    basin: BasinId,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    format: Format = "json",  # noqa: A002, ARG001 - the parameter's name; JSON is the only one yet
    if_none_match: IfNoneMatch = None,
) -> Forecast | Response:
    """The same answer as the latest forecast gives, of any run. A run never changes, so keep it as long as you like.

    A run that was withheld or failed for the basin has a `reason` and no values; its water balance is told where it
    got that far."""
    found = service.of_run(session, run, basin)
    return _answer(session, response, found, Representation(units, members), if_none_match, FOR_EVER)


def _answer(
    session: Session, response: Response, found: Latest, how: Representation, if_none_match: str | None, keep: str
) -> Forecast | Response:
    headers = {"ETag": service.tag_of(found, how), "Cache-Control": keep}
    if holds(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return service.tell(session, found, how)
