"""Answers about comparisons."""

from datetime import datetime

from pydantic import Field

from app.http.base_schema import Missing, Model, Period, ReasonText, next_page
from hydrology.verification.held_out_years import PeriodUse


class ComparisonSummary(Model):
    """A comparison in a list."""

    id: str
    created_at: datetime = Field(description="When it was created, by the machine's clock.")
    period: Period = Field(description="The days that were scored.")
    versions: list[str] = Field(description="The model versions; the others are compared with the first.")
    basin_count: int = Field(description="Number of basins in which every version was scored.")
    official: bool = Field(description="Whether the service itself or an admin asked for it.")


class ComparisonPage(Model):
    """Comparisons, the newest first."""

    comparisons: list[ComparisonSummary]
    next: str | None = next_page("/v1/comparisons?limit=100&after=01a1fa2ab3c4d50b5f2e91")


class ComparedVersion(Model):
    """A model version and its cost of training."""

    id: str
    label: str | None = Field(description="Its name for people.")
    architecture: str = Field(
        description="`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. `lstm`, `eins`, `mmrnn`: others."
    )
    conserving: bool = Field(description="Whether the network conserves mass.")
    product: str = Field(description="The weather product that it uses.")
    members: int = Field(description="Number of networks behind the mean prediction that is scored.")
    parameters: int = Field(description="Trained numbers of one member.")
    training_seconds: float | None = Field(description="Of all its members together, s.")
    machines: list[str] = Field(description="Where its members were trained; none where that was not recorded.")
    missing: Missing


class ComparedQuartiles(Model):
    """Quartiles over the basins, in the unit of the metric; null where no basin has a value."""

    p25: float | None
    median: float | None
    p75: float | None


class OfVersion(Model):
    """An item that belongs to one version."""

    version: str


class OfMetric(Model):
    """An item that belongs to one metric."""

    metric: str
    n: int = Field(description="Number of basins in which both have a value.")


class VersionCuts(ComparedQuartiles, OfVersion):
    """The quartiles of a version."""


class Difference(Model):
    """The differences to the first version, basin by basin."""

    n: int = Field(description="Number of basins in which both have a value.")
    median: float | None = Field(
        description="The median of (this one - the first version), in the unit of the metric; null without a basin."
    )
    better: int = Field(
        description="Number of basins in which it is nearer to the perfect value than the first version."
    )
    worse: int = Field(description="Number of basins in which it is farther from it.")
    p: float | None = Field(
        description="p-value of the two-sided Wilcoxon signed-rank test: the probability of such differences if "
        "neither version is better."
    )
    reason: ReasonText | None = Field(description="Why there is no p; null where there is one.")


class VersionDifference(Difference, OfVersion):
    """The differences of a version."""


class ComparedScore(Model):
    """One metric in the basins where every version has a value."""

    metric: str = Field(description="`nse`, `kge`, `fhv` and so on.")
    unit: str = Field(description="`1`, `%`, `mm/day` or `days`.")
    perfect: float = Field(description="Its value where simulation and observation agree.")
    n: int = Field(description="Number of basins.")
    lacking: int = Field(description="Number of compared basins left out because a version has no value there.")
    versions: list[VersionCuts]
    differences: list[VersionDifference] = Field(description="Of every version but the first.")


class PublishedScore(ComparedQuartiles, OfMetric):
    """A metric of a published model in the same basins and days as the first version."""

    first: ComparedQuartiles = Field(description="The first version in these basins.")
    difference: Difference


class PublishedModel(Model):
    """A published model with scores for each basin."""

    model: str
    source: str = Field(description="The repository and its commit.")
    citation: str = Field(description="Whom to cite.")
    scores: list[PublishedScore]


class PrintedMedian(Model):
    """A median over the basins as published; one entry for each source of a metric."""

    metric: str
    median: float = Field(description="For single networks the mean of ten medians.")
    p25: float | None = Field(description="Null where it is not printed.")
    p75: float | None = Field(description="Null where it is not printed.")
    sd: float | None = Field(description="The standard deviation of those ten medians; null for all else.")
    source: str = Field(description="The publication and its table.")


class PrintedModel(Model):
    """A model of the published table."""

    model: str
    medians: list[PrintedMedian]


class PublishedTable(Model):
    """The medians that the literature prints for the 447 basins of CAMELS-US."""

    comparable: bool = Field(description="Whether this comparison is of the same days and exactly the same basins.")
    note: str = Field(description="The contents of the table, and whether it is comparable.")
    period: Period
    basins: int
    product: str = Field(description="The weather product of the study.")
    models: list[PrintedModel]


class BasinColumn(Model):
    """A metric of a version, one value for each basin of `basins`."""

    metric: str
    version: str
    values: list[float | None] = Field(
        description="In the unit of the metric; null where it is not defined: `/v1/basins/{basin}/skill` gives the "
        "reason."
    )
    differences: list[float | None] | None = Field(
        description="Difference to the first version; null for the first version itself, and where one of the two has "
        "no value."
    )


class Comparison(Model):
    """A comparison of model versions."""

    id: str
    created_at: datetime = Field(description="When it was created, by the machine's clock.")
    period: Period = Field(description="The days that were scored, the same for all.")
    period_use: PeriodUse = Field(
        description="How the trainings of the versions used these days: `held out`, because others are refused, or "
        "`unknown` where a version does not state its days."
    )
    versions: list[ComparedVersion] = Field(description="The others are compared with the first.")
    scores: list[ComparedScore]
    published_models: list[PublishedModel] = Field(
        description="Published models compared with the first version, basin by basin."
    )
    published_table: PublishedTable
    basins: list[str] = Field(description="Basins in which every version was scored.")
    left_out: dict[str, str] = Field(description="Why a basin could not be compared, by its identifier.")
    official: bool = Field(description="Whether the service itself or an admin asked for it.")
    by_basin: list[BasinColumn]
    missing: Missing
