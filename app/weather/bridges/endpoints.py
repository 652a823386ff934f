"""/v1/bridges"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.conditional import SHORTLY, cached
from app.http.dependencies import Reading
from app.http.problems import documented
from app.weather.bridges import service
from app.weather.bridges.schemas import BridgeDetail, Bridges
from jobspec.fields import ID
from records.weather.bridges import UnknownBridge

router = APIRouter(prefix="/bridges", tags=["bridges"])

BridgeName = Annotated[
    str,
    Path(
        description="A bridge's name, which stands for its newest fit, or the id of a fit.",
        pattern=ID,
        examples=["live_as_maurer"],
    ),
]


@router.get(
    "",
    summary="List bridges between weather products",
    response_model=schema_of(Bridges),
    responses=documented(),
    dependencies=[cached(SHORTLY)],
)
def list_bridges(session: Reading, fields: Annotated[FieldFilter, fields_of(Bridges)]) -> Response:
    """The bridges in the order of their names. A new one is fitted, and applied every day, by jobs of the kind
    `bridge` (`POST /v1/jobs`)."""
    return fields.of(Bridges(bridges=service.summaries(session)))


@router.get(
    "/{bridge}", summary="Corrections and skill of a bridge", **documented_responses(BridgeDetail, UnknownBridge)
)
def read_bridge(session: Reading, bridge: BridgeName, answer: JsonAnswer) -> Response:
    """For each basin: the start of its day, the factors and steps of each month, whether they were fitted there or on
    similar basins, and the skill of the bridged weather on water years held out of the fit."""
    return answer.of(service.detail(session, bridge))
