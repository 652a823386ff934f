"""/v1/forecasts, /v1/basins/{basin}/forecasts and /v1/runs/{run}/basins/{basin}"""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.basins.filters import BoundingBox, Huc
from app.exports.answers import exported
from app.exports.formats import JSON, SERIES, Format
from app.exports.negotiation import SeriesFormat, documented_formats
from app.exports.table import Table
from app.forecasts import batch, lookup, selection, service, table
from app.forecasts.batch import MAX_BASINS
from app.forecasts.discharge import Representation
from app.forecasts.schemas import BasinForecast, BasinForecasts
from app.http.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch, entity_tag, not_modified
from app.http.dependencies import (
    BasinId,
    KnownAt,
    OptionalInstant,
    Reading,
    RenderedAnswers,
    RunId,
    ServiceClock,
    as_known,
)
from app.http.discharge_units import NoArea
from app.http.problems import Fault, InvalidRequest, documented
from app.http.response_cache import ResponseCache
from hydrology.base.units import Units
from jobspec.fields import BASIN, full_id
from records.basins.basins import UnknownBasin, sites
from records.forecasts.latest import Latest, NoForecast, NoModel, glance
from records.forecasts.latest import updated_since as updated
from records.runs.runs import UnknownRun

router = APIRouter(tags=["forecasts"])

DischargeUnits = Annotated[
    Units, Query(description="The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.")
]
WithMembers = Annotated[bool, Query(description="Whether to include every member and the cells at T0.")]


def _basins(text: str) -> str:
    basins = list(dict.fromkeys(full_id(part.strip()) for part in text.split(",")))
    if len(basins) > MAX_BASINS:
        detail = f"{len(basins)} basins, and one answer holds at most {MAX_BASINS}: ask for a part at a time"
        raise PydanticCustomError("basins", "{detail}", {"detail": detail})
    return ",".join(basins)


Basins = Annotated[
    str | None,
    AfterValidator(lambda text: None if text is None else _basins(text)),
    Query(
        description=f"The basins, at most {MAX_BASINS}, with commas between; by default all, or those selected by "
        "`huc` and `bbox`.",
        examples=["01013500,01022500"],
        max_length=10_000,
        json_schema_extra={"pattern": f"^{BASIN}( *, *{BASIN}){{0,{MAX_BASINS - 1}}}$"},
    ),
]


UpdatedSince = Annotated[
    OptionalInstant,
    Query(
        description="Only basins whose latest forecast became available after this instant (RFC 3339, with its "
        "offset), or comes from a model version that was promoted after it.",
        examples=["2008-04-21T06:00:00Z"],
    ),
]


@router.get(
    "/basins/{basin}/forecasts/latest",
    summary="The latest forecast of a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, NoArea) | documented_formats(*SERIES),
    response_model=BasinForecast,
    response_model_exclude_unset=True,
)
def read_latest_forecast(
    session: Reading,
    clock: ServiceClock,
    rendered: RenderedAnswers,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    known_at: KnownAt = None,
    if_none_match: IfNoneMatch = None,
) -> BasinForecast | Response:
    """The newest operational forecast of the basin's current model version, by the service's clock: discharge (m³/s by
    default) with quantiles, water in the basin (mm) with the part read as snow, precipitation and loss (mm/day), and
    the water balance (mm) of every member.

    If a newer run was withheld or failed, the answer is the older one, and `superseded_by` gives the reason. If T0 lies
    more than a few days behind the clock, the answer is `stale`; `age_days` gives the number of days.

    With `known_at` the answer is as it would have been at that instant, age included, but of the version that is
    current now."""
    at = as_known(clock.now(), known_at)
    representation = Representation(units, members, at)
    newest = glance(session, [basin], at).get(basin)
    if newest is not None:
        tag = service.tag_at_a_glance(*newest, basin, representation)
        if (body := rendered.get(tag)) is not None:
            return _answer(session, chosen, response, basin, tag, lambda: body, if_none_match, SHORTLY)
    latest = lookup.latest(session, basin, at)
    tag, body_of_run = service.tag_of(latest, representation), _body(session, rendered, latest, representation)
    return _answer(session, chosen, response, basin, tag, body_of_run, if_none_match, SHORTLY)


@router.get(
    "/forecasts",
    summary="The latest forecasts of many basins",
    responses=NOT_MODIFIED | documented() | documented_formats(*SERIES),
    response_model=BasinForecasts,
    response_model_exclude_unset=True,
)
def read_latest_forecasts(
    session: Reading,
    clock: ServiceClock,
    rendered: RenderedAnswers,
    response: Response,
    chosen: SeriesFormat,
    basins: Basins = None,
    huc: Huc = None,
    bbox: BoundingBox = None,
    updated_since: UpdatedSince = None,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    known_at: KnownAt = None,
    if_none_match: IfNoneMatch = None,
) -> BasinForecasts | Response:
    """The latest forecast of each basin in one answer: of the basins named, of those in a hydrologic
    unit or a box, or of all. A basin that has none is in `without` with the reason; a request for more
    basins than one answer holds is refused. `known_at` works as for one basin; with `updated_since` only new
    forecasts."""
    at = as_known(clock.now(), known_at)
    representation = Representation(units, members, at)
    asked = selection.selected(session, None if basins is None else basins.split(","), huc, bbox)
    if updated_since is not None:
        asked = updated(session, asked, updated_since, at)
    looked_up = batch.look_up(session, asked, representation, at)
    if members and (detail := batch.too_much(looked_up)) is not None:
        raise InvalidRequest([Fault(location="query", field="members", detail=detail)])

    def body() -> bytes:
        return batch.body(session, rendered, looked_up, representation, at)

    if chosen is JSON:
        unchanged = not_modified(response, looked_up.tag, SHORTLY, if_none_match)
        return unchanged or _bytes(body(), looked_up.tag, SHORTLY)
    places = sites(session, looked_up.basins)

    def build_table() -> Table:
        return table.of_many(BasinForecasts.model_validate_json(body()), places, units)

    return exported(chosen, entity_tag(looked_up.tag, places), if_none_match, build_table)


@router.get(
    "/runs/{run}/basins/{basin}",
    summary="The forecast of a given run for a basin",
    responses=NOT_MODIFIED | documented(UnknownRun, NoArea) | documented_formats(*SERIES),
    response_model=BasinForecast,
    response_model_exclude_unset=True,
)
def read_run_of_basin(
    session: Reading,
    rendered: RenderedAnswers,
    response: Response,
    run: RunId,
    basin: BasinId,
    chosen: SeriesFormat,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
    if_none_match: IfNoneMatch = None,
) -> BasinForecast | Response:
    """The same answer as the latest forecast gives, of any run. A run never changes, so it may be cached forever.

    A run that was withheld or failed for the basin has a `reason` and no values; its water balance is included if the
    run got that far."""
    latest, representation = lookup.of_run(session, run, basin), Representation(units, members)
    tag, body = service.tag_of(latest, representation), _body(session, rendered, latest, representation)
    return _answer(session, chosen, response, basin, tag, body, if_none_match, FOR_EVER)


def _body(
    session: Session, rendered: ResponseCache, latest: Latest, representation: Representation
) -> Callable[[], bytes]:
    """Return a function that renders the answer in JSON, or takes it from the cache."""

    def body() -> bytes:
        tag = service.tag_of(latest, representation)
        if (stored := rendered.get(tag)) is not None:
            return stored
        (parts,) = service.stored_parts(session, [latest], representation.members)
        forecast = service.basin_forecast(latest, parts, representation)
        rendered.put(tag, build_table := forecast.model_dump_json(exclude_unset=True).encode())
        return build_table

    return body


def _answer(
    session: Session,
    chosen: Format,
    response: Response,
    basin: str,
    tag: str,
    body: Callable[[], bytes],
    if_none_match: str | None,
    wanted: str,
) -> Response:
    """Return the answer about one basin in a format, or a 304."""
    if chosen is JSON:
        return not_modified(response, tag, wanted, if_none_match) or _bytes(body(), tag, wanted)
    places = sites(session, [basin])

    def build_table() -> Table:
        return table.of_one(BasinForecast.model_validate_json(body()), places)

    return exported(chosen, entity_tag(tag, places), if_none_match, build_table, wanted=wanted)


def _bytes(body: bytes, tag: str, wanted: str) -> Response:
    return Response(body, media_type="application/json", headers={"ETag": tag, "Cache-Control": wanted})
