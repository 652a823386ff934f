"""Comparisons of model versions: each is stored once and never changes.

A result holds no time of computation, so that a repeated comparison is recognised as the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, String, UniqueConstraint, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.base.digests import fingerprint
from hydrology.base.doc import Doc
from hydrology.base.errors import NotFound
from hydrology.scores.comparisons import Difference
from hydrology.scores.comparisons import PublishedModel as PrintedModel
from records.database.base import document, to_json
from records.database.checksums import new_id
from records.database.stored import (
    ELSEWHERE,
    add_all,
    as_record,
    as_values,
    find_row,
    grouped,
    narrowed,
    stored,
    table_of,
)


class UnknownComparison(NotFound):
    """No comparison with this id is stored."""


@document
class ComparedVersion:
    """A compared version and its cost."""

    id: str
    label: Annotated[str | None, Doc("Its name for people.")]
    architecture: Annotated[
        str, Doc("`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. The others hold no water.")
    ]
    conserving: Annotated[bool, Doc("Whether the network conserves mass.")]
    product: Annotated[str, Doc("The weather product that it uses.")]
    members: Annotated[int, Doc("Number of networks behind the mean prediction that is scored.")]
    parameters: Annotated[int, Doc("Trained numbers of one member.")]
    training_seconds: Annotated[float | None, Doc("Of all its members together, s.")]
    machines: Annotated[tuple[str, ...], Doc("Where its members were trained; none where that was not recorded.")]
    missing: Mapping[str, Absent]


@document
class ComparedQuartiles:
    """Quartiles over the basins, in the unit of the metric; null where no basin has a value."""

    p25: float | None
    median: float | None
    p75: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionQuartiles(ComparedQuartiles):
    """The quartiles of a version."""

    version: str


@document
class VersionDifference(Difference):
    """The differences of a version to the first one."""

    version: str


@document
class ComparedScore:
    """One metric in the basins where every version has a value."""

    metric: Annotated[str, Doc("`nse`, `kge`, `fhv` and so on.")]
    unit: Annotated[str, Doc("`1`, `%`, `mm/day` or `days`.")]
    perfect: Annotated[float, Doc("Its value where simulation and observation agree.")]
    n: Annotated[int, Doc("Number of basins.")]
    lacking: Annotated[int, Doc("Number of compared basins left out because a version has no value there.")]
    versions: tuple[VersionQuartiles, ...]
    differences: Annotated[tuple[VersionDifference, ...], Doc("Of every version but the first.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore(ComparedQuartiles):
    """A metric of a published model in the same basins and days as the first version."""

    metric: str
    n: Annotated[int, Doc("Number of basins in which both have a value.")]
    first: Annotated[ComparedQuartiles, Doc("The first version in these basins.")]
    difference: Difference


@document
class PublishedModel:
    """A published model with scores for each basin."""

    model: str
    source: Annotated[str, Doc("The repository and its commit.")]
    citation: Annotated[str, Doc("Whom to cite.")]
    scores: tuple[PublishedScore, ...]


@document
class PublishedTable:
    """Published medians, and whether the comparison has the same basins and days."""

    comparable: bool
    note: str
    first_day: str
    last_day: str
    basins: int
    product: str
    models: tuple[PrintedModel, ...]


@document
class ComparisonResult:
    """The result of a comparison.

    Attributes:
        versions: the others, and published models, are compared with the first.
        values: by metric and version, one value for each basin of the comparison; None if undefined.
    """

    versions: tuple[ComparedVersion, ...]
    scores: tuple[ComparedScore, ...]
    published_models: tuple[PublishedModel, ...]
    published_table: PublishedTable
    values: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    left_out: Mapping[str, Absent] = field(default_factory=dict)
    missing: Mapping[str, Absent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComparison:
    """A comparison to be stored.

    Attributes:
        versions: the others are compared with the first.
        basins: those that every version was scored in.
    """

    first_day: Day
    last_day: Day
    versions: Annotated[tuple[str, ...], ELSEWHERE]
    basins: tuple[str, ...]
    result: ComparisonResult
    # Not a foreign key: keys are revoked, never deleted.
    owner: str | None = None


@stored(
    "comparisons",
    Column("fingerprint", String, nullable=False),
    UniqueConstraint("fingerprint"),
    CheckConstraint("first_day <= last_day", name="order"),
    CheckConstraint("length(fingerprint) = 64", name="fingerprint"),
)
class Comparison(NewComparison):
    """A stored comparison."""

    id: str
    created_at: datetime


@stored(
    "comparison_versions",
    UniqueConstraint("comparison_id", "version_id"),
    CheckConstraint("position >= 0", name="position"),
    Index(None, "version_id"),
    key=("comparison_id", "position"),
)
class _ComparedVersion:
    """A version of a comparison. The others are compared with that of position 0."""

    comparison_id: Annotated[str, ForeignKey("comparisons.id")]
    position: int
    version_id: Annotated[str, ForeignKey("versions.id")]


COMPARISONS, _VERSIONS = table_of(Comparison), table_of(_ComparedVersion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A comparison in a list: its days, versions and number of basins."""

    id: str
    created_at: datetime
    first_day: Day
    last_day: Day
    versions: tuple[str, ...]
    basins: int
    owner: str | None = None


def store(session: Session, new: NewComparison, at: datetime) -> tuple[Comparison, bool]:
    """Store a comparison, and return it with whether it is new. An equal stored one is returned instead."""
    days = [str(new.first_day), str(new.last_day)]
    owner = [] if new.owner is None else [new.owner]
    content_hash = fingerprint([days, new.versions, new.basins, to_json(new.result), *owner])
    comparison = Comparison(id=new_id(at), created_at=at, **as_values(new))
    add_all(session, Comparison, [as_values(comparison, "versions") | {"fingerprint": content_hash}], if_new=True)
    found = session.scalars(select(COMPARISONS.c.id).where(COMPARISONS.c.fingerprint == content_hash)).one()
    if found != comparison.id:
        return get(session, found), False
    key = {"comparison_id": comparison.id}
    rows = [key | {"position": position, "version_id": version} for position, version in enumerate(new.versions)]
    add_all(session, _VERSIONS, rows)
    return comparison, True


def get(session: Session, comparison: str) -> Comparison:
    row = find_row(session, COMPARISONS, id=comparison)
    if row is None:
        raise UnknownComparison(f"No comparison {comparison!r} is stored here: list the comparisons to see their ids.")
    return as_record(Comparison, row, versions=_versions(session, [comparison])[comparison])


def list_comparisons(
    session: Session, *, version: str | None = None, after: str | None = None, limit: int | None = None
) -> list[Summary]:
    """Return comparisons, newest first. `after` is the last id of the previous page."""
    row = COMPARISONS.c
    query = select(row.id, row.created_at, row.first_day, row.last_day, row.basins, row.owner).order_by(row.id.desc())
    of_version = select(_VERSIONS.c.comparison_id).where(_VERSIONS.c.version_id == version)
    query = narrowed(query, (row.id.in_, None if version is None else of_version), (row.id.__lt__, after))
    comparisons = session.execute(query.limit(limit)).all()
    versions = _versions(session, [comparison.id for comparison in comparisons])
    return [as_record(Summary, one, versions=versions[one.id], basins=len(one.basins)) for one in comparisons]


def _versions(session: Session, comparisons: Sequence[str]) -> dict[str, tuple[str, ...]]:
    row = _VERSIONS.c
    rows = session.execute(
        select(row.comparison_id, row.version_id).where(row.comparison_id.in_(comparisons)).order_by(row.position)
    )
    groups = grouped(rows)
    return {comparison: tuple(groups.get(comparison, ())) for comparison in comparisons}
