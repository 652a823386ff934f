"""The promotion rule's decision on a version, stored as JSON with it."""

from dataclasses import dataclass

from hydrology.scores.bootstrap import Interval
from jobspec.jobs.training import PromotionRule
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The candidate compared with the versions in use, over some water years.

    Attributes:
        years: the water years, named by the year they end in.
        basins: number of basins with an NSE of both.
        candidate_median, current_median: of their NSE over these basins; None without any.
        difference: the median over basins of the paired difference, candidate - current, with its interval.
    """

    __pydantic_config__ = CLOSED

    years: tuple[int, ...]
    basins: int
    candidate_median: float | None
    current_median: float | None
    difference: Interval | None

    def exceeds(self, margin: float) -> bool:
        """Return whether the whole interval of the difference lies above the margin."""
        return self.difference is not None and self.difference.low is not None and self.difference.low > margin


@dataclass(frozen=True, slots=True)
class PromotionDecision:
    """The decision of the promotion rule.

    Attributes:
        current: the versions in use that the candidate was compared with.
        basins: number of basins where both could be evaluated.
        deciding: the years that decided; None without a version to compare with, as is `reporting`.
        reporting: the years that did not decide.
        better_in: the basins that meet the rule; all or none for a candidate trained from scratch.
        promoted: the basins that use the candidate because of it.
        sentence: the decision in words.
    """

    __pydantic_config__ = CLOSED

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
