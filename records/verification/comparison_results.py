"""What a comparison of versions found, kept as JSON with it.

It holds no time of its making, so that a comparison that is made again is recognised as the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydrology.scores.paired_comparison import Difference
from hydrology.scores.published_medians import PublishedModel as PrintedModel
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedVersion:
    """A version and what it cost.

    Attributes:
        members: how many networks its scores are the mean prediction of.
        parameters: trained numbers of one member.
        training_seconds: of all its members together.
        machines: where its members were trained, as far as that was recorded.
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
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuartiles:
    """Quartiles over basins, in the unit of the metric; None where no basin has a value."""

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
    """How a version differs from the first one."""

    __pydantic_config__ = CLOSED

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedScore:
    """One metric in the basins where every version has a value.

    Attributes:
        unit, perfect: of the metric.
        n: how many basins these are; lacking: how many of the compared basins are not among them.
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
    """A model whose scores others have published basin by basin."""

    __pydantic_config__ = CLOSED

    model: str
    source: str
    citation: str
    scores: tuple[PublishedScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """The medians that the literature prints, and whether the comparison is of the same basins and days."""

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
    """What a comparison found.

    Attributes:
        versions: those compared; the others are held against the first.
        published_models: beside the first version.
        values: by metric and version, one value for each basin of the comparison; None where it is not defined.
        left_out: why a basin could not be compared.
        missing: why a field is empty.
    """

    __pydantic_config__ = CLOSED

    versions: tuple[ComparedVersion, ...]
    scores: tuple[ComparedScore, ...]
    published_models: tuple[PublishedModel, ...]
    published_table: PublishedTable
    values: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
