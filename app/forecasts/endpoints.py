"""/v1/forecasts, /v1/basins/{basin}/forecasts and /v1/runs/{run}/basins/{basin}"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch, not_modified
from app.dependencies import BasinId, KnownAt, Reading, RenderedAnswers, RunId, ServiceClock, as_known
from app.discharge import Units
from app.forecasts import batch, lookup, service
from app.forecasts.batch import MOST_BASINS
from app.forecasts.discharge import NoArea, Representation
from app.forecasts.schemas import BasinForecast, BasinForecasts
from app.problems import Fault, InvalidRequest, documented
from app.rendered import Rendered
from jobspec.fields import BASIN, full_id
from records.basins import UnknownBasin
from records.latest import Latest, NoForecast, NoModel, glance
from records.runs import UnknownRun

router = APIRouter(tags=["forecasts"])

DischargeUnits = Annotated[
    Units, Query(description="The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.")
]
WithMembers = Annotated[bool, Query(description="Whether to tell every member and the cells at T0, not only the mean.")]
Format = Annotated[Literal["json"], Query(description="The format of the answer.")]


def _basins(text: str) -> str:
    basins = list(dict.fromkeys(full_id(part.strip()) for part in text.split(",")))
    if len(basins) > MOST_BASINS:
        detail = f"{len(basins)} basins, and one answer holds at most {MOST_BASINS}: ask for a part at a time"
        raise PydanticCustomError("basins", "{detail}", {"detail": detail})
    return ",".join(basins)


Basins = Annotated[
    str,
    AfterValidator(_basins),
    Query(
        description=f"The basins, at most {MOST_BASINS}, with commas between.",
        examples=["01013500,01022500"],
        max_length=10_000,
        json_schema_extra={"pattern": f"^{BASIN}( *, *{BASIN}){{0,{MOST_BASINS - 1}}}$"},
    ),
]


@router.get(
    "/basins/{basin}/forecasts/latest",
    summary="The latest forecast of a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, NoArea),
    response_model=BasinForecast,
    response_model_exclude_unset=True,
)
def read_latest_forecast(
    session: Reading,
    clock: ServiceClock,
    rendered: RenderedAnswers,
    response: Response,
    basin: BasinId,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    known_at: KnownAt = None,
    format: Format = "json",  # noqa: A002, ARG001 - the parameter's name; JSON is the only one yet
    if_none_match: IfNoneMatch = None,
) -> BasinForecast | Response:
    """The newest operational forecast of the model version that is current for the basin, as the service's clock
    sees it: discharge (m³/s unless asked otherwise) with its quantiles, water in the basin (mm) with the part that
    reads as snow, precipitation and loss (mm/day), and the water balance (mm) of every member.

    Where a newer run was withheld or failed, the answer is the older one, and `superseded_by` says why. Where T0 lies
    more than a few days behind the clock, the answer is `stale`, and `age_days` says by how much.

    With `known_at` it is what the answer would have been at that instant, its age included, of the version that is
    current now."""
    at = as_known(clock.now(), known_at)
    representation = Representation(units, members, at)
    newest = glance(session, [basin], at).get(basin)
    if newest is not None:
        tag = service.tag_at_a_glance(*newest, basin, representation)
        if (body := rendered.get(tag)) is not None:
            unchanged = not_modified(response, tag, SHORTLY, if_none_match)
            return unchanged or _bytes(body, tag, SHORTLY)
    latest = lookup.latest(session, basin, at)
    return _answer(session, rendered, response, latest, representation, if_none_match, SHORTLY)


@router.get(
    "/forecasts",
    summary="The latest forecasts of many basins",
    responses=NOT_MODIFIED | documented(),
    response_model=BasinForecasts,
    response_model_exclude_unset=True,
)
def read_latest_forecasts(
    session: Reading,
    clock: ServiceClock,
    rendered: RenderedAnswers,
    response: Response,
    basins: Basins,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    known_at: KnownAt = None,
    if_none_match: IfNoneMatch = None,
) -> BasinForecasts | Response:
    """For each basin what its latest forecast says, in one answer. A basin that has none is in `without` with the
    reason: nothing is cut silently, and more basins than one answer holds are refused. With `known_at` as for one
    basin."""
    at = as_known(clock.now(), known_at)
    representation = Representation(units, members, at)
    looked_up = batch.look_up(session, basins.split(","), representation, at)
    if members and (detail := batch.too_much(looked_up)) is not None:
        raise InvalidRequest([Fault(location="query", field="members", detail=detail)])
    unchanged = not_modified(response, looked_up.tag, SHORTLY, if_none_match)
    return unchanged or _bytes(batch.body(session, rendered, looked_up, representation, at), looked_up.tag, SHORTLY)


@router.get(
    "/runs/{run}/basins/{basin}",
    summary="What a given run says of a basin",
    responses=NOT_MODIFIED | documented(UnknownRun, NoArea),
    response_model=BasinForecast,
    response_model_exclude_unset=True,
)
def read_run_of_basin(
    session: Reading,
    rendered: RenderedAnswers,
    response: Response,
    run: RunId,
    basin: BasinId,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    format: Format = "json",  # noqa: A002, ARG001 - the parameter's name; JSON is the only one yet
    if_none_match: IfNoneMatch = None,
) -> BasinForecast | Response:
    """The same answer as the latest forecast gives, of any run. A run never changes, so keep it as long as you like.

    A run that was withheld or failed for the basin has a `reason` and no values; its water balance is told where it
    got that far."""
    latest, representation = lookup.of_run(session, run, basin), Representation(units, members)
    return _answer(session, rendered, response, latest, representation, if_none_match, FOR_EVER)


def _answer(
    session: Session,
    rendered: Rendered,
    response: Response,
    latest: Latest,
    representation: Representation,
    if_none_match: str | None,
    keep: str,
) -> Response:
    tag = service.tag_of(latest, representation)
    unchanged = not_modified(response, tag, keep, if_none_match)
    if unchanged is not None:
        return unchanged
    body = rendered.get(tag)
    if body is None:
        (parts,) = service.stored_parts(session, [latest], representation.members)
        body = service.basin_forecast(latest, parts, representation).model_dump_json(exclude_unset=True).encode()
        rendered.keep(tag, body)
    return _bytes(body, tag, keep)


def _bytes(body: bytes, tag: str, keep: str) -> Response:
    return Response(body, media_type="application/json", headers={"ETag": tag, "Cache-Control": keep})
