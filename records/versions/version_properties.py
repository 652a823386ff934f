"""Properties of a version besides its weights and configuration, stored as JSON with it: also how it was promoted."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated

from hydrology.base.calendar import Period
from hydrology.base.doc import Doc
from hydrology.scores.bootstrap import Interval
from hydrology.verification.held_out_years import PeriodUse, use_of
from hydrology.water.probes import ProbeResult
from jobspec.jobs.training import PromotionRule
from records.database.base import document

ELSEWHERE = ""
"""In place of a basin: of all basins without a weight of their own."""
UNNAMED = ""
"""The name of the only part of a version with members of its own, which is that version."""


@document
class Pretrained:
    """The ensemble, trained elsewhere, that came with Freshet.

    `twin` is scored in its place on its own training days: the same recipe on fewer years.
    """

    name: str
    content: Annotated[str, Doc("Hash of the shipped files.")]
    trained_on: str
    twin: str | None = None


@document
class Tuning:
    """The fine-tuning that created a version.

    `earlier_periods` are those in which its ancestors were trained and validated, FIRST..LAST.
    """

    basins: tuple[str, ...]
    earlier_periods: tuple[str, ...] = ()


@document
class VersionPart:
    """One of the versions that a combined version runs side by side, each on its own weather product.

    A version with members of its own is its only part, of weight 1.

    Attributes:
        name: the beginning of its members' labels: its product, where no other part takes the same; or `UNNAMED`.
        product: the weather product that it takes; trained_on: the one that it learnt from.
        weight: its share of the combined flow, of all shares 1.
        basin_weights: its share in basins with shares of their own, of all shares 1 there, too.
        fitted: the periods that its weights were fitted to, FIRST..LAST; validation: the one that selected them.
    """

    version: str
    name: str
    product: str
    trained_on: str
    architecture: str
    weight: float
    members: tuple[int, ...]
    fitted: tuple[str, ...]
    validation: str | None
    basin_weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def weights(self) -> dict[str, float]:
        return {ELSEWHERE: self.weight, **self.basin_weights}

    def in_basin(self, basin: str) -> "VersionPart":
        return replace(self, weight=self.basin_weights.get(basin, self.weight))

    def use_of(self, period: Period) -> PeriodUse:
        validated = [] if self.validation is None else [Period.parse(self.validation)]
        return use_of(period, [Period.parse(days) for days in self.fitted], validated)

    @property
    def labels(self) -> list[str]:
        return [self.label(member) for member in self.members]

    def label(self, member: object) -> str:
        return f"{self.name}-{member}" if self.name else str(member)


@document
class Closure:
    """Mass conservation of a version, measured over all its basins.

    `worst_relative_residual` is the largest |residual| / water over all members, basins and days.
    """

    worst_relative_residual: float
    basins: int
    period: str


@document
class SideBySide:
    """The candidate compared with the versions in use, over some water years.

    Attributes:
        years: the water years, named by the year they end in.
        basins: number of basins with an NSE of both.
        candidate_median, current_median: of their NSE over these basins; None without any.
        difference: the median over basins of the paired difference, candidate - current, with its interval.
    """

    years: tuple[int, ...]
    basins: int
    candidate_median: float | None
    current_median: float | None
    difference: Interval | None

    def exceeds(self, margin: float) -> bool:
        return self.difference is not None and self.difference.low is not None and self.difference.low > margin


@document
class PromotionDecision:
    """The decision of the promotion rule.

    `deciding` are the years that decided, `reporting` the others; None without a version to compare with. `better_in`
    are the basins that meet the rule, all or none for a candidate trained from scratch; `promoted` those that use it
    for that.
    """

    candidate: str
    current: tuple[str, ...]
    rule: PromotionRule
    basins: int
    deciding: SideBySide | None
    reporting: SideBySide | None
    better: bool
    better_in: tuple[str, ...]
    promoted: tuple[str, ...]
    sentence: str


@document
class VersionProperties:
    """The properties of a version; None if one does not apply, or was not measured or stored.

    Attributes:
        attribute_ranges: the least and the greatest value of each attribute over the basins that it learnt from.
        twin: for a version trained here on all days: the version that is scored in its place on its own training days,
            by the same recipe on fewer years. That of a shipped version is in `pretrained`.
        snow_cells: the cells of every member that hold snow by construction; none where snow is found in the cells.
        parts: of a version that combines others, those, the largest weight first. It has no members of its own.
    """

    attribute_ranges: Mapping[str, tuple[float, float]] | None = None
    pretrained: Pretrained | None = None
    tuning: Tuning | None = None
    closure: Closure | None = None
    physics: tuple[ProbeResult, ...] | None = None
    comparison: PromotionDecision | None = None
    twin: str | None = None
    snow_cells: tuple[int, ...] = ()
    parts: tuple[VersionPart, ...] = ()
