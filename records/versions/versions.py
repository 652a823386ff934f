"""Model versions. Their weights, inputs and origin never change after their creation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import JOINT
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse, joint_use, use_of
from jobspec.training import TrainingConfig, used_periods
from records.database.base import JsonObject
from records.database.ids import new_id, verified
from records.database.statements import add_all, as_record, as_values, grouped
from records.versions.promotion_decisions import PromotionDecision
from records.versions.tables import MemberRow, VersionBasinRow, VersionRow, WeightsRow
from records.versions.version_properties import Closure, VersionPart, VersionProperties

Which = Literal["best", "last"]


class UnknownVersion(NotFound):
    """No version with this id is stored."""

    kind = "unknown-version"


class CombinedVersion(InvalidInput):
    """The version combines others, and what was requested takes a version with members of its own."""

    kind = "combined-version"
    remedy = "Name one of the versions that it combines."


@dataclass(frozen=True, slots=True)
class Member:
    """One trained network.

    Attributes:
        label: its number within the version.
        seed: the random seed of its training.
        weights: safetensors bytes of its `best` validation and its `last` step; at least the ones in use.
        log: the record of its training.
    """

    label: int
    seed: int
    weights: Mapping[Which, bytes]
    log: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version to be created.

    Attributes:
        created_at: the machine's time.
        issued_at: the clock's time.
        architecture: `mclstm`, `buckets`, `lstm`, `eins`, `mmrnn`; those of the parts, joined by +.
        conserving: whether the network conserves mass, so that its ledger must close.
        product: the forcing product that it takes; those of the parts, joined by +.
        config, scaler: the network's configuration and the scaling of its inputs; empty for a combined version.
        basins: the basins that it learnt from, stored here or not.
        data_hash: of the training data.
        code_version: of the code that trained it.
        uses: which weights of each member its forecasts use.
        parent_id: the version that it was fine-tuned from; None for a shipped one that was fine-tuned elsewhere.
        label: its name for people.
        properties: its further properties.
        owner: the operator's key that it was trained with; it serves only basins of this key. None for the service's.
    """

    created_at: datetime
    issued_at: datetime
    architecture: str
    conserving: bool
    product: str
    config: JsonObject
    scaler: JsonObject
    basins: tuple[str, ...]
    data_hash: str
    code_version: str
    uses: Which
    parent_id: str | None = None
    label: str | None = None
    properties: VersionProperties = field(default_factory=VersionProperties)
    owner: str | None = None

    @property
    def trained_on(self) -> str:
        """The forcing product of its training: differs from `product` only if an operator chose so."""
        if self.parts:
            return JOINT.join(dict.fromkeys(part.trained_on for part in self.parts))
        pretrained = self.properties.pretrained
        return pretrained.trained_on if pretrained else self.product

    @property
    def parts(self) -> tuple[VersionPart, ...]:
        """The versions that it combines; none for a version with members of its own."""
        return self.properties.parts

    @property
    def products(self) -> tuple[str, ...]:
        """The forcing products that it takes, that of the largest weight first."""
        return tuple(dict.fromkeys(part.product for part in self.parts)) or (self.product,)

    @property
    def training(self) -> TrainingConfig:
        """The configuration of its training.

        Raises:
            CombinedVersion: it combines others.
        """
        self.require_members("This work")
        return TrainingConfig.model_validate(self.config)

    def require_members(self, what: str) -> None:
        """Raise unless the version has members of its own.

        Args:
            what: the beginning of a sentence: what takes no combined version.

        Raises:
            CombinedVersion: it combines others.
        """
        if self.parts:
            raise CombinedVersion(
                f"{what} is not possible yet with a version that combines others: name one of those "
                f"({', '.join(part.version for part in self.parts)})."
            )

    @property
    def twin_id(self) -> str | None:
        """The version that is scored in its place on its own training days. None without one."""
        pretrained = self.properties.pretrained
        return pretrained.twin if pretrained else self.properties.twin

    @property
    def area_products(self) -> tuple[str, ...]:
        """The products whose basin areas convert its discharge, in order of preference."""
        learnt_from = [part.trained_on for part in self.parts] or [self.trained_on]
        return tuple(dict.fromkeys([*self.products, *learnt_from]))

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
        if self.parts:
            of_parts = (period for part in self.parts for period in (*part.fitted, part.validation))
            return tuple(dict.fromkeys(period for period in of_parts if period is not None))
        tuning = self.properties.tuning
        return tuning.earlier_periods if tuning else ()

    @property
    def used_periods(self) -> tuple[str, ...]:
        """The periods in which it and its ancestors were trained and validated."""
        own = [str(period) for _, period in used_periods(self.config)]
        return tuple(dict.fromkeys([*own, *self.earlier_periods]))

    @property
    def fitted_periods(self) -> list[Period]:
        """The days that its weights were fitted to; a version that it was tuned from counts with all its days."""
        if self.parts:
            return [Period.parse(days) for days in dict.fromkeys(days for part in self.parts for days in part.fitted)]
        fitted = [days for purpose, days in used_periods(self.config) if purpose == "train"]
        return fitted + [Period.parse(days) for days in self.earlier_periods]

    @property
    def validation_period(self) -> Period | None:
        """The days that selected its weights; of a combined version, those that selected the weights of every part."""
        if not self.parts:
            return next((days for purpose, days in used_periods(self.config) if purpose == "validation"), None)
        common: Period | None = None
        for part in self.parts:
            if part.validation is None:
                return None
            days = Period.parse(part.validation)
            common = days if common is None else common.overlap(days)
            if common is None:
                return None
        return common

    def use_of(self, period: Period, basin: str | None = None) -> PeriodUse:
        """Return how the training of the version, its ancestors and its parts used the days of a period.

        Args:
            basin: by default any that it has learnt from; a version that names none may have learnt from every one.
        """
        if basin is not None and self.basins and basin not in self.basins:
            return HELD_OUT
        if not self.parts:
            return use_of(period, self.fitted_periods, [self.validation_period] if self.validation_period else [])
        return joint_use(part.use_of(period) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(NewVersion):
    """A stored version.

    Attributes:
        id: sorts by creation.
        members: the labels of its members.
        weights_hash: the fingerprint of the weights that it uses.
        status: `ready`, or `withdrawn`: no longer to be promoted.
    """

    id: str
    members: tuple[int, ...]
    weights_hash: str
    status: str

    @property
    def member_count(self) -> int:
        """Number of its members, of a combined version those of its parts."""
        return len(self.members) or sum(len(part.members) for part in self.parts)

    @property
    def evaluated_as(self) -> tuple[str, ...]:
        """The versions whose evaluations are its own: itself, or its twin where it has none."""
        return (self.id,) if self.twin_id is None else (self.id, self.twin_id)


def create(session: Session, new: NewVersion, members: Sequence[Member]) -> Version:
    """Store a version with all its members, or nothing; a version that combines others has none.

    Raises:
        InvalidInput: there is no member, or one lacks the weights that the version uses.
        IntegrityError: the parent is not stored, or two members share a label.
    """
    if bool(members) == bool(new.parts) or any(new.uses not in member.weights for member in members):
        raise InvalidInput(f"A version needs members or parts, and each member its {new.uses!r} weights.")
    hashes = {(member.label, which): sha256(w) for member in members for which, w in member.weights.items()}
    of_members = sorted([label, hash_] for (label, which), hash_ in hashes.items() if which == new.uses)
    weights_hash = fingerprint(of_members) if members else weights_hash_of(session, new.parts)
    version = new_id(new.created_at)
    with session.begin_nested():
        values = as_values(new, "basins") | {"id": version, "weights_hash": weights_hash, "status": "ready"}
        add_all(session, VersionRow, [values])
        owned = {"version_id": version}
        add_all(session, VersionBasinRow, [owned | {"basin_id": basin} for basin in new.basins])
        add_all(session, MemberRow, [owned | as_values(member, "weights") for member in members])
        weights = [
            owned | {"label": member.label, "which": which, "weights": w, "sha256": hashes[member.label, which]}
            for member in members
            for which, w in member.weights.items()
        ]
        add_all(session, WeightsRow, weights)
    return get(session, version)


def weights_hash_of(session: Session, parts: Sequence[VersionPart]) -> str:
    """Return the fingerprint of the weights of a combined version."""
    return fingerprint(
        [
            [get(session, part.version).weights_hash, part.version, part.weight, *filter(None, [part.basin_weights])]
            for part in parts
        ]
    )


def get(session: Session, version: str) -> Version:
    """Return a version.

    Raises:
        UnknownVersion: there is none with this id.
    """
    return _with_parts(session, [_row(session, version)])[0]


def newest(session: Session, owner: str | None = None) -> Version:
    """Return the newest version of the service, or of an operator's key.

    Raises:
        UnknownVersion: there is none.
    """
    of_owner = VersionRow.owner.is_(None) if owner is None else VersionRow.owner == owner
    row = session.scalars(select(VersionRow).where(of_owner).order_by(VersionRow.id.desc()).limit(1)).one_or_none()
    if row is None:
        whose = "here" if owner is None else "under this key"
        raise UnknownVersion(f"No model version is stored {whose} yet: train one (freshet train).")
    return _with_parts(session, [row])[0]


def owner_of(session: Session, version: str) -> str | None:
    """Return the operator's key that a version was trained with. None for the service's.

    Raises:
        UnknownVersion: there is none with this id.
    """
    return _row(session, version).owner


def list_versions(
    session: Session,
    *,
    product: str | None = None,
    architecture: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Version]:
    """Return versions, newest first. `after` is the last id of the previous page."""
    wanted = select(VersionRow).order_by(VersionRow.id.desc()).limit(limit)
    for column, value in ((VersionRow.product, product), (VersionRow.architecture, architecture)):
        if value is not None:
            wanted = wanted.where(_one_of_joined(column, value))
    if after is not None:
        wanted = wanted.where(VersionRow.id < after)
    return _with_parts(session, session.scalars(wanted).all())


def _one_of_joined(column: InstrumentedAttribute[str], value: str) -> ColumnElement[bool]:
    """Return whether a value is a column's, or among those that it joins."""
    return or_(
        column == value,
        column.startswith(value + JOINT, autoescape=True),
        column.endswith(JOINT + value, autoescape=True),
        column.contains(JOINT + value + JOINT, autoescape=True),
    )


def of_weights(session: Session, weights_hash: str) -> list[Version]:
    """Return the versions with the same weights in use, the oldest first."""
    rows = session.scalars(select(VersionRow).filter_by(weights_hash=weights_hash).order_by(VersionRow.id)).all()
    return _with_parts(session, rows)


def members_of(session: Session, version: str, which: Which | None = None) -> list[Member]:
    """Return a version's members, with the weights in use or the given ones.

    Raises:
        UnknownVersion: there is none with this id.
        Corrupt: stored weights are damaged.
    """
    which = which or get(session, version).uses
    rows = session.execute(
        select(MemberRow, WeightsRow)
        .join(WeightsRow, (WeightsRow.version_id == MemberRow.version_id) & (WeightsRow.label == MemberRow.label))
        .where(MemberRow.version_id == version, WeightsRow.which == which)
        .order_by(MemberRow.label)
    )
    return [
        Member(row.label, row.seed, {which: verified(stored.weights, stored.sha256, f"weights of {version}")}, row.log)
        for row, stored in rows
    ]


def count(session: Session) -> int:
    """Return the number of stored versions."""
    return session.scalar(select(func.count()).select_from(VersionRow)) or 0


def seeds_of(session: Session, version: str) -> dict[int, int]:
    """Return the seed of each member of a version by label. Empty if the version is not stored."""
    rows = session.execute(select(MemberRow.label, MemberRow.seed).filter_by(version_id=version).order_by("label"))
    return dict(rows.all())


def logs_of(session: Session, version: str) -> dict[int, JsonObject]:
    """Return the training record of each member of a version, by label. Empty if it is not stored."""
    rows = session.execute(select(MemberRow.label, MemberRow.log).filter_by(version_id=version).order_by("label"))
    return dict(rows.all())


def conserving(session: Session, versions: Sequence[str]) -> dict[str, bool]:
    """Return for each stored version whether its network conserves mass."""
    rows = session.execute(select(VersionRow.id, VersionRow.conserving).where(VersionRow.id.in_(versions)))
    return dict(rows.all())


def update_properties(session: Session, version: str, **properties: Closure | PromotionDecision) -> None:
    """Store properties that were measured or decided after a version's creation, replacing earlier ones.

    Args:
        properties: by their names in `VersionProperties`.
    """
    row = _row(session, version)
    row.properties = replace(row.properties, **properties)  # type: ignore[arg-type]
    session.flush()


def _row(session: Session, version: str) -> VersionRow:
    row = session.get(VersionRow, version)
    if row is None:
        raise UnknownVersion(f"No model version {version!r} is stored here: list the versions to see their ids.")
    return row


def _with_parts(session: Session, rows: Sequence[VersionRow]) -> list[Version]:
    ids = [row.id for row in rows]
    scope = select(VersionBasinRow.version_id, VersionBasinRow.basin_id).order_by(VersionBasinRow.basin_id)
    labels = select(MemberRow.version_id, MemberRow.label).order_by(MemberRow.label)
    basins, members = (
        grouped(session.execute(wanted.where(wanted.selected_columns[0].in_(ids)))) for wanted in (scope, labels)
    )
    return [
        as_record(Version, row, basins=tuple(basins.get(row.id, ())), members=tuple(members.get(row.id, ())))
        for row in rows
    ]
