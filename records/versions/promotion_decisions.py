"""What the promotion rule decided of a version, kept as JSON with it."""

from dataclasses import dataclass

from hydrology.scores.bootstrap import Interval
from jobspec.jobs.training import PromotionRule
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The candidate beside the versions in use, over some water years.

    Attributes:
        years: the water years, named by the year they end in.
        basins: how many basins have an NSE of both.
        candidate_median, current_median: of their NSE over these basins; None where there is none.
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
    """What the rule decided.

    Attributes:
        current: the versions in use that the candidate was held against.
        basins: how many basins both sides could be evaluated in.
        deciding: the years that settled it; None where there was nothing to compare with. So is `reporting`.
        reporting: the years that had no part in it.
        better_in: the basins where the rule is met; all or none for a candidate trained from scratch.
        promoted: the basins that use the candidate because of it.
        sentence: all this in words.
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
