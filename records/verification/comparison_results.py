"""The result of a comparison of versions, stored as JSON with it.

It holds no time of computation, so that a repeated comparison is recognised as the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydrology.base.absent import Absent
from hydrology.scores.paired_comparison import Difference
from hydrology.scores.published_medians import PublishedModel as PrintedModel
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedVersion:
    """A compared version and its cost.

    Attributes:
        members: number of networks whose mean prediction was scored.
        parameters: trained numbers of one member.
        training_seconds: total over its members.
        machines: the machines that trained its members, as far as recorded.
        missing: why a field is None.
    """

    __pydantic_config__ = CLOSED

    id: str
    label: str | None
    architecture: str
    conserving: bool
    product: str
    members: int
    parameters: int
    training_seconds: float | None
    machines: tuple[str, ...]
    missing: Mapping[str, Absent]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuartiles:
    """Quartiles over basins, in the unit of the metric; None if no basin has a value."""

    __pydantic_config__ = CLOSED

    p25: float | None
    median: float | None
    p75: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionQuartiles(ComparedQuartiles):
    """The quartiles of a version."""

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference(Difference):
    """Difference of a version from the first one."""

    __pydantic_config__ = CLOSED

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedScore:
    """One metric in the basins where every version has a value.

    Attributes:
        unit, perfect: unit and perfect value of the metric.
        n: number of these basins; lacking: number of the other compared basins.
        differences: of every version but the first.
    """

    __pydantic_config__ = CLOSED

    metric: str
    unit: str
    perfect: float
    n: int
    lacking: int
    versions: tuple[VersionQuartiles, ...]
    differences: tuple[VersionDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore(ComparedQuartiles):
    """A metric of a published model in basins and days that the first version has too.

    Attributes:
        first: the quartiles of the first version there.
        difference: of the published model to the first version.
    """

    metric: str
    n: int
    first: ComparedQuartiles
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """A model with published scores by basin."""

    __pydantic_config__ = CLOSED

    model: str
    source: str
    citation: str
    scores: tuple[PublishedScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """Published medians, and whether the comparison has the same basins and days."""

    __pydantic_config__ = CLOSED

    comparable: bool
    note: str
    first_day: str
    last_day: str
    basins: int
    product: str
    models: tuple[PrintedModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The result of a comparison.

    Attributes:
        versions: the compared ones; the others are compared with the first.
        published_models: published models that the first version is compared with.
        values: by metric and version, one value for each basin of the comparison; None if undefined.
        left_out: why a basin could not be compared.
        missing: why a field is empty.
    """

    __pydantic_config__ = CLOSED

    versions: tuple[ComparedVersion, ...]
    scores: tuple[ComparedScore, ...]
    published_models: tuple[PublishedModel, ...]
    published_table: PublishedTable
    values: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    left_out: Mapping[str, Absent] = field(default_factory=dict)
    missing: Mapping[str, Absent] = field(default_factory=dict)
