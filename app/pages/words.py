"""Names and sentences of the pages: levels, basins, skill, ranges."""

from app.forecasts.schemas import RunOfBasin
from app.pages.render import in_full

STALE = "; stale"
NO_ESTIMATE = "No uncertainty estimate yet"
SKILL_WORDS: tuple[tuple[float, str], ...] = ((0.85, "Very good"), (0.7, "Good"), (0.5, "Fair"), (0.3, "Weak"))
"""The lowest Nash-Sutcliffe efficiency of each word."""
POOR = "Poor"
RANGE_KINDS = {"provisional": "provisional range", "backfilled": "range from past forecasts"}
"""Label of a calibrated range by the kind of its error model; others need none."""


def skill_word(nse: float) -> str:
    """Return a word for a Nash-Sutcliffe efficiency."""
    return next((word for lowest, word in SKILL_WORDS if nse >= lowest), POOR)


def t0_of(run: RunOfBasin) -> str:
    """Return the T0 of a run, with a mark where it is stale."""
    return f"T0 {in_full(run.t0)}{STALE if run.stale else ''}"
