"""When the chance of passing a level is an alert: severity, hysteresis and persistence, as rules that tell themselves.

A ladder has a step for each severity. Each step is a switch: on once the chance has been high enough in so many runs in
a row, off once it has been below a lower chance in so many. Between the two chances nothing changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["advisory", "watch", "warning"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The least severe first."""
Trend = Literal["rising", "steady", "falling"]
Link = Literal["next", "again", "anew"]
"""How a run stands to the run that was decided before. `next`: of a later T0. `again`: of the same T0; the two count as
one. `anew`: there was none, or they cannot be compared, so that runs are counted from this one on."""
Turn = Literal["begins", "rises", "falls", "ends"]


@dataclass(frozen=True, slots=True)
class Step:
    """A severity, and the chances of passing the level at which it begins and ends.

    Attributes:
        begins_after: so many runs in a row must have the chance for it to begin.
    """

    severity: Severity
    begins_at: float
    ends_below: float
    begins_after: int


Ladder = tuple[Step, ...]

WINDOW_DAYS = 10
"""The chance is that of passing the level on any of the first days ahead, so many at most."""
ENDS_AFTER = 2
"""After so many runs in a row below its lower chance, a severity ends."""
STEADY = 0.05
"""A chance that has moved by no more since the run before is steady."""
RARE_YEARS = 5
"""A level that is passed once in so many years or more is a rare one."""
LADDERS: dict[Literal["common", "rare"], Ladder] = {
    "common": (Step("advisory", 0.5, 0.35, 2), Step("watch", 0.8, 0.65, 2)),
    "rare": (Step("advisory", 0.2, 0.1, 2), Step("watch", 0.4, 0.3, 2), Step("warning", 0.7, 0.55, 1)),
}
"""The steps for levels that are passed often, and for rare ones and those that somebody set."""


@dataclass(frozen=True, slots=True)
class Switch:
    """How a step stands.

    Attributes:
        on: whether its severity, or a higher one, is reached.
        runs: how many runs in a row, the last one included, speak for the other.
    """

    on: bool = False
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What a run comes to for a level.

    Attributes:
        switches: one for each step of the ladder.
        turn: what changes; None where the severity stays.
        why: the numbers and the rule, in a sentence.
    """

    switches: tuple[Switch, ...]
    severity: Severity | None
    turn: Turn | None
    why: str


def ladder(return_period_years: int | None) -> Ladder:
    """Return the ladder of a level; None: somebody set it, because it matters."""
    common = return_period_years is not None and return_period_years < RARE_YEARS
    return LADDERS["common" if common else "rare"]


def trend(chance: float, before: float) -> Trend:
    """Return which way the chance has moved since the run before."""
    if abs(chance - before) <= STEADY:
        return "steady"
    return "rising" if chance > before else "falling"


def decide(steps: Ladder, before: Sequence[Switch], chance: float, link: Link) -> Decision:
    """Return what a chance comes to.

    Args:
        before: the switches that the run before led to; none of a level that is new.
        chance: of passing the level over the window.
    """
    before = tuple(before) or (Switch(),) * len(steps)
    counted = [_counted(step, switch, chance, link) for step, switch in zip(steps, before, strict=True)]
    turned = [_turned(step, switch) for step, switch in zip(steps, counted, strict=True)]
    after = tuple(
        # A severity that begins at once brings those below it along.
        Switch(True) if not switch.on and any(higher.on for higher in turned[at:]) else switch
        for at, switch in enumerate(turned)
    )
    was, now = reached(steps, before), reached(steps, after)
    return Decision(after, now, _turn(was, now), _why(steps, counted, after, was, now, chance))


def reached(steps: Ladder, switches: Sequence[Switch]) -> Severity | None:
    """Return the highest severity that is on."""
    on = [step.severity for step, switch in zip(steps, switches, strict=False) if switch.on]
    return on[-1] if on else None


def rank(severity: Severity | None) -> int:
    """Return the place of a severity: 0 for none, then the least severe first."""
    return 0 if severity is None else 1 + SEVERITIES.index(severity)


def _counted(step: Step, switch: Switch, chance: float, link: Link) -> Switch:
    """Count a run that speaks for turning a switch; any other sets the count back."""
    against = chance < step.ends_below if switch.on else chance >= step.begins_at
    if not against:
        return Switch(switch.on)
    if link == "again":
        return Switch(switch.on, max(switch.runs, 1))
    return Switch(switch.on, 1 if link == "anew" else switch.runs + 1)


def _turned(step: Step, switch: Switch) -> Switch:
    return Switch(not switch.on) if switch.runs >= _needed(step, switch) else switch


def _needed(step: Step, switch: Switch) -> int:
    return ENDS_AFTER if switch.on else step.begins_after


def _turn(was: Severity | None, now: Severity | None) -> Turn | None:
    if was == now:
        return None
    if was is None:
        return "begins"
    if now is None:
        return "ends"
    return "rises" if rank(now) > rank(was) else "falls"


def _why(
    steps: Ladder,
    counted: Sequence[Switch],
    after: Sequence[Switch],
    was: Severity | None,
    now: Severity | None,
    chance: float,
) -> str:
    """Return the rule that the run was decided by: of what changed, of what is about to, or of what holds."""
    by_name = {step.severity: (step, count) for step, count in zip(steps, counted, strict=True)}
    if rank(now) > rank(was):
        assert now is not None
        step, count = by_name[now]
        return f"{now.capitalize()} begins: {_reaches(step, chance)} in {_runs(count, step)}."
    if rank(now) < rank(was):
        assert was is not None
        step, count = by_name[was]
        left = f", and {now} stays" if now else ""
        return f"{was.capitalize()} ends{left}: {_below(step, chance)} in {_runs(count, step)}."
    state = "No alert" if now is None else now.capitalize()
    waiting = [(step, switch) for step, switch in zip(steps, after, strict=True) if switch.runs]
    if waiting:
        step, count = waiting[-1]
        rule = _below(step, chance) if count.on else _reaches(step, chance)
        return f"{state}: {rule}, in {_runs(count, step)}."
    if now is not None:
        step, _ = by_name[now]
        return f"{state}: a chance of {_number(chance)} is not below {_number(step.ends_below)}, where {now} ends."
    first = steps[0]
    return f"{state}: a chance of {_number(chance)} is below {_number(first.begins_at)}, where {first.severity} begins."


def _reaches(step: Step, chance: float) -> str:
    return f"a chance of {_number(chance)} reaches {_number(step.begins_at)}, where {step.severity} begins"


def _below(step: Step, chance: float) -> str:
    return f"a chance of {_number(chance)} is below {_number(step.ends_below)}, where {step.severity} ends"


def _runs(count: Switch, step: Step) -> str:
    return f"{count.runs} of the {_needed(step, count)} runs in a row that it takes"


def _number(chance: float) -> str:
    return f"{chance:.3g}"
