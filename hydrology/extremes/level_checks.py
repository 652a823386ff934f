"""Levels that somebody set: whether they can be right, their names and order for a reader, and what is stated of them.

What happens from a level on and what to do then is as its agency states it, of the likely and the possible level.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, get_args

import numpy as np

from hydrology.alerts import IMPACT, INSTRUCTION, Severity, rank
from hydrology.base.arrays import Array
from hydrology.base.doc import Doc, Why
from hydrology.extremes.levels import OF_MODEL
from hydrology.uncertainty.exceedance import Direction

MIN_DAYS = 365
"""Minimum number of observed days to compare a level with."""
MAX_SHARE: Mapping[Direction, float] = {"rising": 0.1, "falling": 0.5}
"""Largest share of the days on which flow is beyond a level that marks an event."""
MAX_TIMES_HIGHEST = 10.0
"""Largest multiple of the highest observed flow that a level can have."""
MAX_RATIO = 2.0
"""Largest ratio of two discharges of the same level."""


def differ(one: float, other: float) -> bool:
    """Return whether two discharges above 0 cannot be of the same level."""
    return ratio(one, other) > MAX_RATIO


def ratio(one: float, other: float) -> float:
    """Return how many times the smaller of two discharges the larger one is."""
    return max(one, other) / min(one, other)


def against_record(discharge: float, direction: Direction, flow: Array) -> str | None:
    """Return why a level cannot be right beside a record, both m3/s, NaN where missing; None where it can."""
    known = flow[np.isfinite(flow)]
    if len(known) < MIN_DAYS:
        return None
    share = float(np.mean(known >= discharge if direction == "rising" else known <= discharge))
    if share > MAX_SHARE[direction]:
        beyond = "at or above" if direction == "rising" else "at or below"
        return f"On {share:.0%} of the observed days flow was {beyond} its {discharge:.4g} m³/s, which is usual here."
    if direction == "rising" and discharge > MAX_TIMES_HIGHEST * float(known.max()):
        return f"Its {discharge:.4g} m³/s are {discharge / known.max():.0f} times the highest flow that was observed."
    return None


def out_of_order(discharges: Mapping[str, float], order: Sequence[str]) -> dict[str, str]:
    """Return why categories do not rise, by name, with all that are involved.

    Discharges, m3/s, are of some of the categories; `order` is of all, the least severe first.
    """
    known = [name for name in order if name in discharges]
    found: dict[str, str] = {}
    for place, name in enumerate(known):
        for higher in known[place + 1 :]:
            if discharges[higher] <= discharges[name]:
                sentence = (
                    f"Category {higher} ({discharges[higher]:.4g} m³/s) is not above {name} "
                    f"({discharges[name]:.4g} m³/s)."
                )
                found = {one: found.get(one, sentence) for one in (*found, name, higher)}
    return found


_LEVELS = (
    (re.compile(r"pot-([\d.]+)"), "{}-year flood, independent floods"),
    (re.compile(r"gev-(\d+)"), "{}-year flood"),
    (re.compile(r"lp3-(\d+)"), "{}-year flood, log-Pearson"),
    (re.compile(r"7q(\d+)"), "{}-year low flow"),
    (re.compile(r"exceeded-(\d+)"), "flow exceeded on {} % of days"),
    (re.compile(r"(action)"), "{} stage"),
    (re.compile(r"(minor|moderate|major)"), "{} flood"),
)


def level_title(name: str) -> str:
    """Return a level's name for a reader: `gev-5` is the 5-year flood, `minor` the minor flood."""
    plain = name.removeprefix(OF_MODEL)
    for pattern, title in _LEVELS:
        if found := pattern.fullmatch(plain):
            plain = title.format(found[1])
            break
    return plain if name == plain or not name.startswith(OF_MODEL) else f"{plain}, of the model"


def percent(share: float) -> str:
    """Return a chance in percent; one beyond the outermost quantiles as a bound."""
    if share <= 0.01:
        return "1 % or less"
    return "99 % or more" if share >= 0.99 else f"{100 * share:.0f} %"


LIKELY, POSSIBLE = 0.5, 0.1
"""Chances from which on passing a level is likely, and possible."""


def gravity(severity: Severity | None, chance: float, discharge: float, direction: Direction) -> tuple[float, ...]:
    """Return the sort key of a level: the highest is the one to show first.

    It is of the most severe alert; of equal ones the level furthest out that is likely to be passed, otherwise the one
    furthest out that is possible, otherwise the likeliest. A rare level with a small chance never stands for a river.
    """
    likelihood = (chance >= LIKELY) + (chance >= POSSIBLE)
    return rank(severity), likelihood, reach(discharge, direction) if likelihood else chance


def reach(discharge: float, direction: Direction) -> float:
    """Return a discharge so that a level further out has a higher one: low flows are furthest where they are lowest."""
    return discharge if direction == "rising" else -discharge


_NOTHING = Why("Nothing is stated.")


@dataclass(frozen=True, slots=True)
class LevelText:
    """What is stated of a level; one of both is not None."""

    impact: Annotated[str | None, Doc(IMPACT), _NOTHING]
    instruction: Annotated[str | None, Doc(INSTRUCTION), _NOTHING]


@dataclass(frozen=True, slots=True)
class LevelAdvice(LevelText):
    """What is stated of a level that is likely or possibly passed, or was when its alert began."""

    level: str
    chance: Annotated[float, Doc("Of passing it, 0 to 1.")]

    @property
    def heading(self) -> str:
        """The level and its chance in words: "minor flood, likely (62 %)"."""
        likelihood = "likely" if self.chance >= LIKELY else "possible" if self.is_possible else "no longer possible"
        return f"{level_title(self.level)}, {likelihood} ({percent(self.chance)})"

    @property
    def is_possible(self) -> bool:
        return self.chance >= POSSIBLE

    @property
    def in_words(self) -> str:
        """All of it in a paragraph."""
        lead = "What to do" if self.is_possible else "Was advised"
        what_to_do = f"{lead}: {self.instruction}" if self.instruction else None
        return " ".join(filter(None, (f"{self.heading}:", self.impact, what_to_do)))


class _Passable(Protocol):
    @property
    def level(self) -> str: ...
    @property
    def direction(self) -> Direction: ...
    @property
    def discharge(self) -> float: ...
    @property
    def chance(self) -> float: ...


def advice_of(
    levels: Iterable[_Passable], texts: Mapping[str, LevelText], alerted: str | None = None
) -> Sequence[LevelAdvice]:
    """Return what is stated of the level furthest out that is likely, and of that which is possible, in each direction.

    Levels of which nothing is stated are passed over: what is stated of a lower one holds as well. That of the
    `alerted` level comes last where it is no longer possible: its alert still stands.
    """
    stated, chosen = [one for one in levels if one.level in texts], {}
    for direction in get_args(Direction):
        for least_chance in (LIKELY, POSSIBLE):
            reached = [one for one in stated if one.direction == direction and one.chance >= least_chance]
            if reached:
                furthest = max(reached, key=lambda one: reach(one.discharge, one.direction))
                chosen[furthest.level] = furthest.chance
    chosen |= {one.level: one.chance for one in stated if one.level == alerted and one.chance < POSSIBLE}
    return [LevelAdvice(texts[name].impact, texts[name].instruction, name, chance) for name, chance in chosen.items()]
