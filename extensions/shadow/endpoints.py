"""/v1/shadow: what is operated and not public yet, and how far it is; /shadow: the page."""

from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.http.api_keys import AdminReader, AdminWriter
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.conditional import ASK_FIRST
from app.http.dependencies import BasinId, Reading, ServiceClock, VersionId
from app.http.problems import Forbidden, Unauthorized, documented_writing
from app.http.shown import As
from app.pages.render import PageRoute, render
from extensions.shadow import shadowing
from extensions.shadow.gates import Gate
from extensions.shadow.shadowing import InUse, NotInShadow, NotPublicYet, Subject
from hydrology.base.doc import Why
from records.access.audit import Writer
from records.basins.basins import UnknownBasin
from records.basins.ownership import Unofficial
from records.versions.versions import UnknownVersion
from runtime.clock import Clock

router = APIRouter(tags=["models"])
pages = APIRouter(route_class=PageRoute)


class Shadow(Model):
    """A basin or a version that is operated and not public yet."""

    subject: Subject
    id: str
    name: Annotated[str | None, Why("Nobody has named it.")] = Field(description="Its name for people.")
    version: Annotated[str | None, Why("No version forecasts it.")] = Field(
        description="The version whose forecasts count: of a basin its current one."
    )
    gates: list[Annotated[Gate, As()]] = Field(description="What is reached, and what is needed.")
    is_ready: bool = Field(description="Whether all gates are met: an administrator may end it.")
    missing: Missing = EXPLAINED


class ShadowList(Model):
    """All that is in the shadow: basins, then versions."""

    shadow: list[Shadow]


@router.get(
    "/shadow", summary="List what is not public yet", **documented_responses(ShadowList, Unauthorized, Forbidden)
)
def read_shadow(_key: AdminReader, session: Reading, clock: ServiceClock, answer: JsonAnswer) -> Response:
    """Basins and versions in the shadow: feeds, daily forecasts, verification and levels go on for them, and nobody
    but administrators sees any of it. `gates` has how far each is. Addresses of the service show them, with an admin's
    key, as `shadow`."""
    return answer.of(shadow_of(session, clock), cache_control=ASK_FIRST)


def shadow_of(session: Session, clock: Clock) -> ShadowList:
    return ShadowList(shadow=[Shadow.from_records(one) for one in shadowing.in_shadow(session, clock)])


@router.put("/basins/{basin}/shadow", summary="Put a basin into the shadow", responses=documented_writing(Unofficial))
def start_shadow_of_basin(writer: AdminWriter, basin: BasinId) -> Shadow:
    """The public sees nothing of it from then on: its address is not known, and its alerts end. One that is not stored
    yet is in the shadow from the first day. Repeating it changes nothing."""
    with writer.database.transaction() as session:
        if shadowing.start_basin(session, basin, writer.clock):
            writer.record(session, "shadow started", basin)
        return Shadow.from_records(shadowing.basin_in_shadow(session, basin, writer.clock))


@router.delete(
    "/basins/{basin}/shadow",
    status_code=204,
    summary="Make a basin in the shadow public",
    responses=documented_writing(UnknownBasin, NotInShadow, NotPublicYet),
)
def end_shadow_of_basin(writer: AdminWriter, basin: BasinId) -> None:
    """Agree that it becomes public, which is refused while a gate is not met. Its alerts begin anew with the next
    forecast."""
    with writer.database.transaction() as session:
        _record_end(writer, session, shadowing.end_basin(session, basin, writer.clock))


@router.put(
    "/models/{version}/shadow",
    summary="Put a model version into the shadow",
    responses=documented_writing(UnknownVersion, Unofficial, InUse),
)
def start_shadow_of_version(writer: AdminWriter, version: VersionId) -> Shadow:
    """It forecasts its basins after each daily cycle, beside the version that serves them, and is verified. The public
    sees nothing of it. Repeating it changes nothing."""
    with writer.database.transaction() as session:
        if shadowing.start_version(session, version):
            writer.record(session, "shadow started", version)
        return Shadow.from_records(shadowing.version_in_shadow(session, version, writer.clock))


@router.delete(
    "/models/{version}/shadow",
    status_code=204,
    summary="Make a model version in the shadow public",
    responses=documented_writing(UnknownVersion, NotInShadow, NotPublicYet),
)
def end_shadow_of_version(writer: AdminWriter, version: VersionId) -> None:
    """Agree that it becomes public, which is refused while a gate is not met. From then on it can be promoted."""
    with writer.database.transaction() as session:
        _record_end(writer, session, shadowing.end_version(session, version, writer.clock))


def _record_end(writer: Writer, session: Session, ended: shadowing.Shadowed) -> None:
    writer.record(session, "shadow ended", ended.id, **{gate.name: gate.value for gate in ended.gates})


@pages.get("/shadow", response_class=HTMLResponse)
def read_shadow_page(request: Request, _key: AdminReader, session: Reading, clock: ServiceClock) -> HTMLResponse:
    """Show how far everything in the shadow is, and what makes it public."""
    return render(request, "shadow.html", shadow=shadow_of(session, clock).shadow)
