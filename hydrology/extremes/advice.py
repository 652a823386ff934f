"""What happens from a level on and what to do then, as its agency states them: of the likely and the possible level."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, get_args

from hydrology.alerts import IMPACT, INSTRUCTION
from hydrology.base.doc import Doc, Why
from hydrology.extremes.level_checks import LIKELY, POSSIBLE, level_title, percent, reach
from hydrology.uncertainty.exceedance import Direction

_NOTHING = Why("Nothing is stated.")


@dataclass(frozen=True, slots=True)
class LevelText:
    """What is stated of a level; one of both is not None."""

    impact: Annotated[str | None, Doc(IMPACT), _NOTHING]
    instruction: Annotated[str | None, Doc(INSTRUCTION), _NOTHING]


@dataclass(frozen=True, slots=True)
class LevelAdvice(LevelText):
    """What is stated of a level that is likely or possibly passed."""

    level: str
    chance: Annotated[float, Doc("Of passing it, 0 to 1.")]

    @property
    def heading(self) -> str:
        """The level and its chance in words: "minor flood, likely (62 %)"."""
        likelihood = "likely" if self.chance >= LIKELY else "possible"
        return f"{level_title(self.level)}, {likelihood} ({percent(self.chance)})"

    @property
    def in_words(self) -> str:
        """All of it in a paragraph."""
        what_to_do = f"What to do: {self.instruction}" if self.instruction else None
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


def advice_of(levels: Iterable[_Passable], texts: Mapping[str, LevelText]) -> Sequence[LevelAdvice]:
    """Return what is stated of the level furthest out that is likely, and of that which is possible, in each direction.

    Levels of which nothing is stated are passed over: what is stated of a lower one holds as well.
    """
    stated, chosen = [one for one in levels if one.level in texts], {}
    for direction in get_args(Direction):
        for least_chance in (LIKELY, POSSIBLE):
            reached = [one for one in stated if one.direction == direction and one.chance >= least_chance]
            if reached:
                furthest = max(reached, key=lambda one: reach(one.discharge, one.direction))
                chosen[furthest.level] = furthest.chance
    return [LevelAdvice(texts[name].impact, texts[name].instruction, name, chance) for name, chance in chosen.items()]
