"""/v1/bridges: corrections from one weather product to another, and their skill."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, documented_list, fields_of
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.conditional import SHORTLY
from app.http.dependencies import Reading, id_path
from app.http.shown import As, model_of
from hydrology.base.doc import Why
from hydrology.weather.bridge import Skill
from records.weather import bridges
from records.weather.bridges import UnknownBridge


class BridgedBasin(Model):
    """A bridge's corrections for a basin."""

    basin: str
    pooled_from: list[str] = Field(
        description="The similar basins that its corrections are the mean of; empty if fitted here."
    )
    pooled_reason: Annotated[str | None, Why("It was fitted here.")] = Field(
        description="Why it was not fitted here; null where it was."
    )
    day_offset: float = Field(
        description="How much earlier the source product's days begin, in days: at 0.8 a day's "
        "precipitation is 20 % of that product's value for the day and 80 % of its value for the next. If it is "
        "above 0, the last day waits for the next."
    )
    factors: dict[str, list[float]] = Field(
        description="Factors of precipitation, radiation and vapour pressure, by month."
    )
    steps: dict[str, list[float]] = Field(description="Additive correction of temperatures, °C, by month.")
    limited: list[str] = Field(description="Variables whose correction reached its limit in some month.")
    held_out: Annotated[
        Annotated[Skill, As(name="HeldOut", exact=True)] | None, Why("It has no days of its own to hold out.")
    ]
    applied_at: Annotated[datetime | None, Why("It has not been applied here.")] = Field(
        description="When it was last applied; null where it has not been."
    )
    hash: str = Field(description="Hash of its corrections.")
    missing: Missing = EXPLAINED


BRIDGE = As(
    "Bridge",
    doc="A fit of a bridge.",
    omit=("refused", "code_version"),
    rename=(("first", "first_day"), ("last", "last_day")),
    missing=True,
)


class BridgeDetail(model_of(bridges.Bridge, BRIDGE)):  # type: ignore[misc]
    """A fit of a bridge with its corrections for each basin."""

    basins: list[BridgedBasin] = Field(description="In the order of their identifiers.")
    refused: dict[str, str] = Field(description="Why other basins have no corrections.")


class Bridges(Model):
    """The newest fit of each bridge, in the order of their names."""

    bridges: list[Annotated[bridges.Bridge, BRIDGE]]


def detail(session: Session, bridge: str) -> BridgeDetail:
    stored = bridges.get(session, bridge)
    basins = [_basin(part, stored) for part in bridges.parts_of(session, stored.id)]
    return BridgeDetail(**BRIDGE.values(stored), basins=basins, refused=stored.refused)


def _basin(part: bridges.BridgePart, bridge: bridges.Bridge) -> BridgedBasin:
    missing = {}
    if part.applied_at is None and bridge.model is not None:
        missing["applied_at"] = "Weather forecasts are corrected when used: no corrected weather is stored."
    return BridgedBasin.from_records(part, part.corrections, held_out=part.skill, hash=part.sha256, missing=missing)


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
    return answer.of(detail(session, bridge))
