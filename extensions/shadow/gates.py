"""The gates between the shadow and the public: how far a version is in its basins, by its stored runs and scores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median
from typing import Annotated, Literal

from sqlalchemy.orm import Session

from extensions.shadow.settings import ShadowSettings
from hydrology.base.calendar import Day
from hydrology.base.doc import Doc, Why
from hydrology.verification.forecasts import CALIBRATED
from records.runs import runs
from records.verification import lead_scores
from records.verification.lead_scores import BasinVerification

GateName = Literal["issues", "skill", "coverage", "inputs"]


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate: what is reached, and what is needed."""

    name: Annotated[
        GateName,
        Doc(
            "`issues`: number of forecasts issued, of the basin with the fewest. `skill`: CRPS skill of calibrated "
            "forecasts against persistence, 1 day ahead. `coverage`: share of days on which observed flow lies in the "
            "90 % range, 1 day ahead; both in the median basin. `inputs`: share of forecasts without a past day whose "
            "weather was filled."
        ),
    ]
    value: Annotated[
        float | None,
        Doc("What is reached."),
        Why("No basin has as many verified forecasts as `issues` needs."),
    ]
    least: Annotated[float, Doc("Lower values are not enough.")]
    most: Annotated[float | None, Doc("Higher values are too high."), Why("More is better.")] = None

    @property
    def is_met(self) -> Annotated[bool, Doc("Whether it is met.")]:
        return self.value is not None and self.least <= self.value <= (self.value if self.most is None else self.most)

    def __str__(self) -> str:
        needed = f"{self.least:g} or more" if self.most is None else f"{self.least:g} to {self.most:g}"
        return f"{self.name}: {'not known' if self.value is None else f'{self.value:.3g}'}, needed {needed}"


def gates(session: Session, version: str | None, basins: Sequence[str], today: Day, need: ShadowSettings) -> list[Gate]:
    """Return how far a version is in basins; None: no version forecasts them."""
    issued = runs.issued_runs(session, version, today, ("operational",)) if version else []
    whole = {run.id: not run.filled_days for run in issued}
    pairs = [(run, basin) for run, basin in runs.issued_pairs(session, [*whole]) if basin in {*basins}]
    counts = Counter(basin for _, basin in pairs)
    scores = [row.scores for row in _newest(session, version, basins, need.shadow_issues)] if version else []
    skill = [one.crpss_persistence for one in scores if one.crpss_persistence is not None]
    coverage = [one.coverage_90 for one in scores if one.coverage_90 is not None]
    return [
        Gate("issues", min((counts[basin] for basin in basins), default=0), need.shadow_issues),
        Gate("skill", median(skill) if skill else None, need.shadow_skill),
        Gate("coverage", median(coverage) if coverage else None, need.shadow_coverage_least, need.shadow_coverage_most),
        Gate("inputs", sum(whole[run] for run, _ in pairs) / len(pairs) if pairs else 0.0, need.shadow_inputs),
    ]


def _newest(session: Session, version: str, basins: Sequence[str], least: int) -> Iterator[BasinVerification]:
    """Yield the newest verification of issued forecasts at 1 day ahead in each basin that has as many."""
    rows = [
        row
        for row in lead_scores.of_forecasters(session, version, [CALIBRATED])
        if (row.origin, row.lead) == ("issued", 1) and row.basin_id in {*basins} and row.scores.n >= least
    ]
    yield from {row.basin_id: row for row in sorted(rows, key=attrgetter("last_day"))}.values()
