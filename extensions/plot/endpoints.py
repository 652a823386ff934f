"""/v1/basins/{basin}/hydrograph"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.forecasts.discharge import DischargeUnits
from app.forecasts.lookup import PROBLEMS
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock, ServiceSettings
from app.http.entity_tags import entity_tag, holds
from app.http.problems import documented
from extensions.plot.briefing import briefing
from extensions.plot.picture import Ending, picture

MEDIA_TYPES: dict[Ending, str] = {"svg": "image/svg+xml", "png": "image/png"}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in MEDIA_TYPES.values()
        }
    }
}
Days = Annotated[int, Query(ge=1, le=366, description="Number of days before T0.")]
Kind = Annotated[Ending, Query(alias="image", description="The kind of picture.")]
router = APIRouter(prefix="/basins", tags=["forecasts"])


@router.get(
    "/{basin}/hydrograph",
    summary="The hydrograph as a picture",
    response_class=Response,
    responses=ANSWERS | NOT_MODIFIED | documented(*PROBLEMS),
)
def read_hydrograph(
    session: Reading,
    clock: ServiceClock,
    settings: ServiceSettings,
    basin: BasinId,
    run: ChosenRun = None,
    units: DischargeUnits = "m3/s",
    days: Days = 14,
    kind: Kind = "svg",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The figure of the basin's page for a briefing: with the river's name, T0 and time of issue, units, legend and
    source, and that it is not an official warning, unless the service has an official sender."""
    official = settings.cap_sender is not None and not clock.replays
    found = briefing(session, basin, run, clock.now(), units, days=days, official=official)
    tag = entity_tag(found.figure.model_dump_json(), found.title, found.issue, *found.sources, kind)
    name = f"{basin}-hydrograph-{found.figure.t0}.{kind}"
    headers = {"etag": tag, "cache-control": SHORTLY, "content-disposition": f'inline; filename="{name}"'}
    if holds(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(picture(found, kind), media_type=MEDIA_TYPES[kind], headers=headers)
