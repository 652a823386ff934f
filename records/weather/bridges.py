"""Bridges between weather products. A fit never changes; applying it records that a product now uses it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.digests import fingerprint
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from hydrology.weather.bridge import PRECIPITATION, Corrections, Skill
from records.database.base import Long, to_json
from records.database.checksums import id_after
from records.database.stored import add_all, as_record, as_values, find, read, stored, table_of
from records.feeds import feeds
from records.runs.run_weather import RunBridge
from records.series import series


class UnknownBridge(NotFound):
    """No bridge with this name or id is stored."""


_ALL_DAYS = Why("It was fitted on all days that both products have.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBridge:
    """A fit to be stored.

    Attributes:
        refused: by basin, why it could not be fitted.
    """

    name: Annotated[str, Doc("The bridge's name, also the product that its weather is stored under.")]
    from_product: Annotated[str, Doc("The product it converts.")]
    to_product: Annotated[str, Doc("The product it converts to.")]
    model: Annotated[
        str | None, Doc("The weather model whose forecasts it corrects."), Why("It is for observed weather.")
    ]
    first: Annotated[Day | None, Doc("The first day of the fitting period."), _ALL_DAYS]
    last: Annotated[Day | None, _ALL_DAYS]
    refused: Mapping[str, str]
    code_version: str


@stored(
    "bridges",
    CheckConstraint("first <= last", name="order"),
    CheckConstraint("from_product <> to_product", name="products"),
    Index(None, "name", "id"),
    Index(None, "model"),
)
class Bridge(NewBridge):
    """A fit of a bridge. Another fit with the same name is another bridge."""

    id: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPart:
    """A fit's result for a basin.

    Attributes:
        skill: on days outside the fit; None if it is pooled.
        pooled_from: the basins of a pooled fit; `pooled_reason`: why it was not fitted here.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    corrections: Corrections
    skill: Skill | None = None
    pooled_from: tuple[str, ...] = ()
    pooled_reason: str | None = None


@stored(
    "bridge_basins",
    CheckConstraint("(skill IS NULL) = (pooled_reason IS NOT NULL)", name="pooled"),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    Index(None, "basin_id"),
    key=("bridge_id", "basin_id"),
)
class BridgePart(NewPart):
    """A stored fit's result for a basin.

    Attributes:
        applied_at: when it was last applied, by the service's clock.
        applied_stamp: of the series that it was applied to (`series.stamp`); None if it is not in force, because it was
            never applied or another fit has been since.
    """

    bridge_id: Annotated[str, ForeignKey("bridges.id")]
    sha256: str
    applied_at: datetime | None
    applied_stamp: Annotated[int | None, Long()]


_BRIDGES, _PARTS = table_of(Bridge), table_of(BridgePart)


@dataclass(frozen=True, slots=True)
class InForce:
    """The bridge that converts a basin's weather."""

    bridge: Bridge
    part: BridgePart

    @property
    def used(self) -> RunBridge:
        rain = None if self.part.skill is None else self.part.skill.variables[PRECIPITATION].bridged
        return as_record(
            RunBridge,
            self.bridge,
            pooled_from=self.part.pooled_from,
            precipitation_bias=None if rain is None else rain.bias,
            precipitation_correlation=None if rain is None else rain.correlation,
            sha256=self.part.sha256,
        )


def create(session: Session, new: NewBridge, parts: Sequence[NewPart], at: datetime) -> Bridge:
    """Store a fit. Its name may not be a product's that is not from a bridge."""
    require_free(session, new.name)
    newest = _newest(session, new.name)
    bridge = id_after(None if newest is None else newest.id, at)
    add_all(session, Bridge, [as_values(new) | {"id": bridge, "refused": dict(new.refused), "created_at": at}])
    rows = [as_values(part) | {"bridge_id": bridge, "sha256": fingerprint(to_json(part.corrections))} for part in parts]
    add_all(session, BridgePart, rows)
    return get(session, bridge)


def require_free(session: Session, name: str) -> None:
    """Refuse a name that a product from elsewhere than a bridge has."""
    if name in series.products(session) and not is_stored(session, name):
        raise feeds.product_conflict(name, "holds data that are not from a bridge")


def get(session: Session, bridge: str) -> Bridge:
    found = find(session, Bridge, id=bridge) or _newest(session, bridge)
    if found is None:
        raise UnknownBridge(f"No bridge {bridge[:64]!r} is stored here: list the bridges to see their names.")
    return found


def is_stored(session: Session, name: str) -> bool:
    return _newest(session, name) is not None


def list_bridges(session: Session) -> list[Bridge]:
    by_age = read(session, Bridge, select(_BRIDGES).order_by(_BRIDGES.c.name, _BRIDGES.c.id))
    return list({bridge.name: bridge for bridge in by_age}.values())


def parts_of(session: Session, bridge: str) -> list[BridgePart]:
    query = select(_PARTS).where(_PARTS.c.bridge_id == bridge).order_by(_PARTS.c.basin_id)
    return read(session, BridgePart, query)


def applied(session: Session, product: str, basins: Sequence[str]) -> dict[str, InForce]:
    """Return the bridge that a product comes from, by basin. Empty if it is not from a bridge."""
    in_force = _of_basins(session, basins, _BRIDGES.c.name == product, _PARTS.c.applied_stamp.is_not(None))
    return {one.part.basin_id: one for one in in_force}


def for_forecasts(session: Session, model: str, product: str, basins: Sequence[str]) -> dict[str, InForce]:
    fitted = _of_basins(session, basins, _BRIDGES.c.model == model, _BRIDGES.c.to_product == product)
    return {one.part.basin_id: one for one in fitted}


def to_products(
    session: Session, products: Collection[str], basins: Sequence[str], only: Collection[str] | None = None
) -> list[InForce]:
    """Return the bridges of observed weather that lead to some products, by basin, whether applied or not: `only` these
    ids, or the newest fit of each name.

    Those whose precipitation correlates best on days outside their fit come first.
    """
    named = [] if only is None else [_BRIDGES.c.id.in_(only)]
    fitted = _of_basins(session, basins, _BRIDGES.c.model.is_(None), _BRIDGES.c.to_product.in_(products), *named)
    newest = {(one.part.basin_id, one.bridge.name if only is None else one.bridge.id): one for one in fitted}
    return sorted(newest.values(), key=lambda one: (-(one.used.precipitation_correlation or 0.0), one.bridge.name))


def note_applied(session: Session, bridge: Bridge, basin: str, at: datetime, stamp: int) -> None:
    """Record that a bridge was applied to a basin's series of a stamp. Others of its name end there."""
    same_name = select(_BRIDGES.c.id).where(_BRIDGES.c.name == bridge.name)
    of_basin = _PARTS.update().where(_PARTS.c.basin_id == basin)
    session.execute(of_basin.where(_PARTS.c.bridge_id.in_(same_name)).values(applied_stamp=None))
    in_force = of_basin.where(_PARTS.c.bridge_id == bridge.id)
    session.execute(in_force.values(applied_at=at, applied_stamp=stamp))


def _newest(session: Session, name: str) -> Bridge | None:
    newest = select(_BRIDGES).where(_BRIDGES.c.name == name).order_by(_BRIDGES.c.id.desc()).limit(1)
    return next(iter(read(session, Bridge, newest)), None)


def _of_basins(session: Session, basins: Sequence[str], *of: ColumnElement[bool]) -> list[InForce]:
    joined = select(_PARTS).join(_BRIDGES, _BRIDGES.c.id == _PARTS.c.bridge_id)
    query = joined.where(_PARTS.c.basin_id.in_(basins), *of).order_by(_PARTS.c.bridge_id)
    parts = read(session, BridgePart, query)
    used = select(_BRIDGES).where(_BRIDGES.c.id.in_({part.bridge_id for part in parts}))
    of_id = {bridge.id: bridge for bridge in read(session, Bridge, used)}
    return [InForce(of_id[part.bridge_id], part) for part in parts]
