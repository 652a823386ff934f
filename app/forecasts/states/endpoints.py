"""/v1/basins/{basin}/states and /v1/basins/{basin}/states/{day}"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from app.exports.answers import Responder, documented_responses, in_format
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.exports.formats import JSON, NETCDF
from app.exports.negotiation import one_of
from app.forecasts.states import netcdf, service
from app.forecasts.states.schemas import StateDetail, StatePage
from app.http.conditional import SHORTLY, cached
from app.http.dependencies import ChosenVersion, KnownBasin, Reading
from app.http.pagination import Page, paged
from app.http.problems import documented
from jobspec.fields import DayField
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel, asked_version
from records.runs import states
from records.runs.states import UnknownState
from records.versions.versions import CombinedVersion, UnknownVersion

router = APIRouter(prefix="/basins", tags=["water"])

StateDays = Annotated[
    Page,
    paged(
        Annotated[
            DayField | None,
            Query(description="Start after this day: the last one of the page before.", examples=["2008-04-21"]),
        ]
    ),
]
StateDay = Annotated[DayField, Path(description="The last day of weather in the state.", examples=["2008-04-21"])]
StateAnswer = Annotated[Responder, Depends(in_format(one_of(NETCDF)))]


@router.get(
    "/{basin}/states",
    summary="Stored model states of a basin",
    response_model=schema_of(StatePage),
    responses=documented(UnknownBasin, UnknownVersion, NoModel, CombinedVersion),
    dependencies=[cached(SHORTLY)],
)
def list_states(
    session: Reading,
    basin: KnownBasin,
    page: StateDays,
    fields: Annotated[FieldFilter, fields_of(StatePage)],
    version: ChosenVersion = None,
) -> Response:
    """The states that forecasts started from, the newest day first, a page at a time: follow `next` until it is null.
    Each names its parent, so that the chain leads back to the empty store. Of old days the last of each month is
    stored; a damaged state is left out, and recomputed by the next forecast. The states of a version that combines
    others are those of its parts: name one."""
    of_version = asked_version(session, basin, version)
    of_version.require_members("Reading states")
    asked = of_version.id
    found = states.page(session, asked, basin, before=page.after, limit=page.sought)
    shown, following = page.cut(found, lambda state: state.day)
    return fields.of(
        StatePage(basin=basin, version=asked, states=[service.summary(one) for one in shown], next=following)
    )


@router.get(
    "/{basin}/states/{day}",
    summary="A model state of a basin with its arrays",
    **documented_responses(
        StateDetail, UnknownBasin, UnknownVersion, NoModel, UnknownState, CombinedVersion, formats=(NETCDF,)
    ),
)
def read_state(
    session: Reading, basin: KnownBasin, day: StateDay, answer: StateAnswer, version: ChosenVersion = None
) -> Response:
    """What the model's cells hold at the end of the day, for each member: exact numbers in JSON, or the arrays in a
    NetCDF file. A forecast from this day starts from them."""
    asked = asked_version(session, basin, version)
    asked.require_members("Reading states")
    content = service.detail(session, asked, basin, day)
    if answer.chosen is JSON:
        return answer.of(content)
    return answer.written(content, f"{basin}_state_{content.day}_{asked.id}", netcdf.of_state)
