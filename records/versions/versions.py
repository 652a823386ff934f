"""Model versions. Their weights, inputs and origin never change after their creation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from sqlalchemy import (
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    Select,
    String,
    Table,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import JOINT
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse, joint_use
from jobspec.training import TrainingConfig, used_periods
from records.database.base import Base, FreeText, JsonObject, Long, one_of
from records.database.checksums import id_after, verified
from records.database.stored import ELSEWHERE, add_all, as_record, as_values, grouped, narrowed, stored, table_of
from records.versions.version_properties import UNNAMED, Closure, PromotionDecision, VersionPart, VersionProperties

Which = Literal["best", "last"]
Found = TypeVar("Found")


class UnknownVersion(NotFound):
    """No version with this id is stored."""


class CombinedVersion(InvalidInput):
    """The version combines others, and what was requested takes a version with members of its own."""

    remedy = "Name one of the versions that it combines."


@stored(
    "version_members",
    Column("version_id", String, ForeignKey("versions.id"), nullable=False),
    key=("version_id", "label"),
    kw_only=False,
)
class Member:
    """One trained network.

    `weights` are safetensors bytes of its `best` validation and its `last` step; at least the ones in use.
    """

    label: int
    seed: Annotated[int, Long()]
    weights: Annotated[Mapping[Which, bytes], ELSEWHERE]
    log: JsonObject


@stored(
    "version_weights",
    ForeignKeyConstraint(["version_id", "label"], ["version_members.version_id", "version_members.label"]),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    key=("version_id", "label", "which"),
)
class Weights:
    """The weights of one member, in safetensors: of its best validation or its last step."""

    version_id: str
    label: int
    which: Which
    weights: bytes
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version to be created.

    Attributes:
        created_at, issued_at: the machine's time and the clock's.
        architecture: as in `jobspec.network`; as in `product`, those of parts are joined by +.
        conserving: whether the network conserves mass, so that its ledger must close.
        config, scaler: of the network and of its inputs; empty for a combined version.
        basins: the basins that it learnt from, stored here or not.
        parent_id: the version that it was fine-tuned from; None for a shipped one that was fine-tuned elsewhere.
        owner: the operator's key that it was trained with; it serves only basins of this key. None for the service's.
    """

    created_at: datetime
    issued_at: datetime
    architecture: str
    conserving: bool
    product: str
    config: JsonObject
    scaler: JsonObject
    basins: Annotated[tuple[str, ...], ELSEWHERE]
    data_hash: str
    code_version: str
    uses: Which
    parent_id: Annotated[str | None, ForeignKey("versions.id")] = None
    label: FreeText | None = None
    properties: VersionProperties = field(default_factory=VersionProperties)
    owner: str | None = None  # not a foreign key: keys are revoked, never deleted

    @property
    def trained_on(self) -> str:
        """The forcing product of its training: differs from `product` only if an operator chose so."""
        if self.combines:
            return JOINT.join(dict.fromkeys(part.trained_on for part in self.combines))
        pretrained = self.properties.pretrained
        return pretrained.trained_on if pretrained else self.product

    @property
    def combines(self) -> tuple[VersionPart, ...]:
        return self.properties.parts

    @property
    def training(self) -> TrainingConfig:
        self.require_members("This work")
        return TrainingConfig.model_validate(self.config)

    def require_members(self, what: str) -> None:
        """Raise CombinedVersion unless it has members; `what` begins the message."""
        if self.combines:
            raise CombinedVersion(
                f"{what} is not possible yet with a version that combines others: name one of those "
                f"({', '.join(part.version for part in self.combines)})."
            )

    @property
    def twin_id(self) -> str | None:
        pretrained = self.properties.pretrained
        return pretrained.twin if pretrained else self.properties.twin

    @property
    def tuned_on(self) -> tuple[str, ...] | None:
        """The basins that it was fine-tuned on. None where it was trained from scratch."""
        tuning = self.properties.tuning
        return tuning.basins if tuning else None

    @property
    def scope(self) -> tuple[str, ...]:
        """The basins that it is meant for: those of its fine-tuning, or all that it learnt from."""
        return self.tuned_on or self.basins

    @property
    def earlier_periods(self) -> tuple[str, ...]:
        """The periods in which its ancestors, or its parts, were trained and validated."""
        if self.combines:
            of_parts = (period for part in self.combines for period in (*part.fitted, part.validation))
            return tuple(dict.fromkeys(period for period in of_parts if period is not None))
        tuning = self.properties.tuning
        return tuning.earlier_periods if tuning else ()

    @property
    def used_periods(self) -> tuple[str, ...]:
        own = [str(period) for _, period in used_periods(self.config)]
        return tuple(dict.fromkeys([*own, *self.earlier_periods]))


@stored(
    "versions",
    # The operator's key that it belonged to before an administrator adopted a basin that it serves.
    Column("adopted_from", String),
    one_of("status", "ready", "withdrawn"),
)
class Version(NewVersion):
    """A stored version.

    `id` sorts by creation; `members` are labels. The status is `ready`, or `withdrawn`: no longer to be promoted.
    """

    id: str
    members: Annotated[tuple[int, ...], ELSEWHERE]
    weights_hash: str
    status: str

    @property
    def parts(self) -> tuple[VersionPart, ...]:
        """The versions that it combines, or itself as one part of weight 1."""
        return self.combines or (self._only_part,)

    @property
    def _only_part(self) -> VersionPart:
        periods = [(purpose, str(days)) for purpose, days in used_periods(self.config)]
        return VersionPart(
            version=self.id,
            name=UNNAMED,
            product=self.product,
            trained_on=self.trained_on,
            architecture=self.architecture,
            weight=1.0,
            members=self.members,
            fitted=(*(days for purpose, days in periods if purpose == "train"), *self.earlier_periods),
            validation=next((days for purpose, days in periods if purpose == "validation"), None),
        )

    @property
    def products(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.product for part in self.parts))

    @property
    def area_products(self) -> tuple[str, ...]:
        """The products whose basin areas convert its discharge, in order of preference."""
        return tuple(dict.fromkeys([*self.products, *(part.trained_on for part in self.parts)]))

    @property
    def fitted_periods(self) -> list[Period]:
        """The days that its weights were fitted to; a version that it was tuned from counts with all its days."""
        return [Period.parse(days) for days in dict.fromkeys(days for part in self.parts for days in part.fitted)]

    @property
    def validation_period(self) -> Period | None:
        """The days that selected its weights: those that selected the weights of every part."""
        periods = [Period.parse(part.validation) for part in self.parts if part.validation is not None]
        common = periods[0] if len(periods) == len(self.parts) else None
        for days in periods[1:]:
            common = None if common is None else common.overlap(days)
        return common

    def use_of(self, period: Period, basin: str | None = None) -> PeriodUse:
        """Return how the training of the version, its ancestors and its parts used the days of a period.

        By default in any basin that it has learnt from; a version that names none may have learnt from every one.
        """
        if basin is not None and self.basins and basin not in self.basins:
            return HELD_OUT
        return joint_use(part.use_of(period) for part in self.parts)

    @property
    def member_count(self) -> int:
        return sum(len(part.members) for part in self.parts)

    @property
    def scored_as(self) -> str:
        """The version that is scored for it on its own training days: its twin, or itself without one."""
        return self.twin_id or self.id

    @property
    def evaluated_as(self) -> tuple[str, ...]:
        """The versions whose evaluations are its own: itself, or its twin where it has none."""
        return tuple(dict.fromkeys((self.id, self.scored_as)))

    def first_stored(self, read: Callable[[str], Found]) -> tuple[str, Found]:
        """Return what is stored of it, or else of its twin, and of which of them that is."""
        for version in self.evaluated_as:
            if found := read(version):
                break
        return version, found


VERSIONS, _MEMBERS, _WEIGHTS = table_of(Version), table_of(Member), table_of(Weights)
_BASINS = Table(
    "version_basins",
    Base.metadata,
    Column("version_id", String, ForeignKey("versions.id"), primary_key=True),
    # Not a foreign key: a version trained elsewhere may have learnt from basins that are not stored here.
    Column("basin_id", String, primary_key=True),
)


def create(session: Session, new: NewVersion, members: Sequence[Member]) -> Version:
    """Store a version with all its members, or nothing; a version that combines others has none."""
    if bool(members) == bool(new.combines) or any(new.uses not in member.weights for member in members):
        raise InvalidInput(f"A version needs members or parts, and each member its {new.uses!r} weights.")
    hashes = {(member.label, which): sha256(w) for member in members for which, w in member.weights.items()}
    of_members = sorted([label, hash_] for (label, which), hash_ in hashes.items() if which == new.uses)
    weights_hash = fingerprint(of_members) if members else weights_hash_of(session, new.combines)
    version = id_after(session.scalar(select(func.max(VERSIONS.c.id))), new.created_at)
    with session.begin_nested():
        values = as_values(new, "basins") | {"id": version, "weights_hash": weights_hash, "status": "ready"}
        add_all(session, Version, [values])
        owned = {"version_id": version}
        add_all(session, _BASINS, [owned | {"basin_id": basin} for basin in new.basins])
        add_all(session, Member, [owned | as_values(member, "weights") for member in members])
        weights = [
            owned | {"label": member.label, "which": which, "weights": w, "sha256": hashes[member.label, which]}
            for member in members
            for which, w in member.weights.items()
        ]
        add_all(session, Weights, weights)
    return get(session, version)


def weights_hash_of(session: Session, parts: Sequence[VersionPart]) -> str:
    return fingerprint(
        [
            [get(session, part.version).weights_hash, part.version, part.weight, *filter(None, [part.basin_weights])]
            for part in parts
        ]
    )


def get(session: Session, version: str) -> Version:
    found = _read(session, select(VERSIONS).where(VERSIONS.c.id == version))
    if not found:
        raise UnknownVersion(f"No model version {version!r} is stored here: list the versions to see their ids.")
    return found[0]


def newest(session: Session, owner: str | None = None) -> Version:
    of_owner = VERSIONS.c.owner.is_(None) if owner is None else VERSIONS.c.owner == owner
    found = _read(session, select(VERSIONS).where(of_owner).order_by(VERSIONS.c.id.desc()).limit(1))
    if not found:
        whose = "here" if owner is None else "under this key"
        raise UnknownVersion(f"No model version is stored {whose} yet: train one (freshet train).")
    return found[0]


def owner_of(session: Session, version: str) -> str | None:
    return get(session, version).owner


def list_versions(
    session: Session,
    *,
    product: str | None = None,
    architecture: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Version]:
    """Return versions, newest first. `after` is the last id of the previous page."""
    query = narrowed(
        select(VERSIONS).order_by(VERSIONS.c.id.desc()).limit(limit),
        (partial(_one_of_joined, VERSIONS.c.product), product),
        (partial(_one_of_joined, VERSIONS.c.architecture), architecture),
        (VERSIONS.c.id.__lt__, after),
    )
    return _read(session, query)


def _one_of_joined(column: Column[str], value: str) -> ColumnElement[bool]:
    return or_(
        column == value,
        column.startswith(value + JOINT, autoescape=True),
        column.endswith(JOINT + value, autoescape=True),
        column.contains(JOINT + value + JOINT, autoescape=True),
    )


def of_weights(session: Session, weights_hash: str) -> list[Version]:
    return _read(session, select(VERSIONS).where(VERSIONS.c.weights_hash == weights_hash).order_by(VERSIONS.c.id))


def members_of(session: Session, version: str, which: Which | None = None) -> list[Member]:
    """Return a version's members, with the weights in use or the given ones."""
    which = which or get(session, version).uses
    rows = session.execute(
        select(_MEMBERS, _WEIGHTS.c.weights, _WEIGHTS.c.sha256)
        .join(_WEIGHTS)
        .where(_MEMBERS.c.version_id == version, _WEIGHTS.c.which == which)
        .order_by(_MEMBERS.c.label)
    )
    return [
        as_record(Member, row, weights={which: verified(row.weights, row.sha256, f"weights of {version}")})
        for row in rows
    ]


def count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(VERSIONS)) or 0


def seeds_and_logs(session: Session, version: str) -> dict[int, tuple[int, JsonObject]]:
    """Return the seed and training record of each member of a version, by label. Empty if it is not stored."""
    query = select(_MEMBERS.c.label, _MEMBERS.c.seed, _MEMBERS.c.log).filter_by(version_id=version)
    return {label: (seed, log) for label, seed, log in session.execute(query.order_by(_MEMBERS.c.label))}


def conserving(session: Session, versions: Sequence[str]) -> dict[str, bool]:
    rows = session.execute(select(VERSIONS.c.id, VERSIONS.c.conserving).where(VERSIONS.c.id.in_(versions)))
    return dict(rows.all())


def update_properties(session: Session, version: str, **properties: Closure | PromotionDecision) -> None:
    """Store or replace measured or decided properties, by names in `VersionProperties`."""
    stored: Any = get(session, version).properties
    changed = VERSIONS.update().where(VERSIONS.c.id == version)
    session.execute(changed.values(properties=replace(stored, **properties)))


def _read(session: Session, query: Select[Any]) -> list[Version]:
    rows = session.execute(query).all()
    ids = [row.id for row in rows]
    scope = select(_BASINS.c.version_id, _BASINS.c.basin_id).order_by(_BASINS.c.basin_id)
    labels = select(_MEMBERS.c.version_id, _MEMBERS.c.label).order_by(_MEMBERS.c.label)
    basins, members = (
        grouped(session.execute(wanted.where(wanted.selected_columns[0].in_(ids)))) for wanted in (scope, labels)
    )
    return [
        as_record(Version, row, basins=tuple(basins.get(row.id, ())), members=tuple(members.get(row.id, ())))
        for row in rows
    ]
