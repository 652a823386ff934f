"""/v1/bridges: corrections from one weather product to another, and their skill."""

from typing import Annotated

from fastapi import APIRouter, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, documented_list, fields_of
from app.http.conditional import SHORTLY
from app.http.dependencies import Reading, id_path
from app.weather.schemas import BridgeDetail, Bridges, bridge_detail
from records.weather import bridges
from records.weather.bridges import UnknownBridge

router = APIRouter(prefix="/bridges", tags=["bridges"])

BridgeName = Annotated[
    str, id_path("A bridge's name, which stands for its newest fit, or the id of a fit.", "live_as_maurer")
]


@router.get("", summary="List bridges between weather products", **documented_list(Bridges, cache_control=SHORTLY))
def list_bridges(session: Reading, fields: Annotated[FieldFilter, fields_of(Bridges)]) -> Response:
    """The bridges in the order of their names. A new one is fitted, and applied every day, by jobs of the kind
    `bridge` (`POST /v1/jobs`)."""
    return fields.of(Bridges(bridges=bridges.list_bridges(session)))


@router.get(
    "/{bridge}", summary="Corrections and skill of a bridge", **documented_responses(BridgeDetail, UnknownBridge)
)
def read_bridge(session: Reading, bridge: BridgeName, answer: JsonAnswer) -> Response:
    """For each basin: the start of its day, the factors and steps of each month, whether they were fitted there or on
    similar basins, and the skill of the bridged weather on water years held out of the fit."""
    return answer.of(bridge_detail(session, bridge))
