"""Alert rules: severity, hysteresis and persistence from the exceedance probability, with explanations.

A ladder has a step for each severity. Each step is a switch: on once the probability has been high enough in a number
of consecutive runs, off once it has been below a lower probability in a number of consecutive runs. Between the two
probabilities nothing changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hydrology.base.errors import counted

Severity = Literal["advisory", "watch", "warning"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Ordered from the least severe."""
Trend = Literal["rising", "steady", "falling"]
Link = Literal["next", "again", "anew", "judged"]
"""Relation of a run to the run decided before. `next`: of a later T0. `again`: of the same T0; the two count as one.
`anew`: there was none, or they cannot be compared, so that the count starts with this run. `judged`: a forecaster set
the probability, which counts as all the runs that a change takes."""
Turn = Literal["begins", "rises", "falls", "ends"]
IMPACT = "What happens from the level on, as its source states it."
INSTRUCTION = "What to do then, in the words of the agency that is responsible."


@dataclass(frozen=True, slots=True)
class Step:
    """A severity: the exceedance probabilities at which it begins and ends, and the runs in a row that begin it."""

    severity: Severity
    begins_at: float
    ends_below: float
    begins_after: int


Ladder = tuple[Step, ...]

WINDOW_DAYS = 10
"""Maximum number of days ahead over which the exceedance probability is taken."""
ENDS_AFTER = 2
"""Number of consecutive runs below its lower probability after which a severity ends."""
STEADY = 0.05
"""Largest change since the run before of a probability that counts as steady."""
RARE_YEARS = 5
"""Shortest return period in years of a rare level."""
LADDERS: dict[Literal["common", "rare"], Ladder] = {
    "common": (Step("advisory", 0.5, 0.35, 2), Step("watch", 0.8, 0.65, 2)),
    "rare": (Step("advisory", 0.2, 0.1, 2), Step("watch", 0.4, 0.3, 2), Step("warning", 0.7, 0.55, 1)),
}
"""The steps for frequent levels, and for rare levels and those set by a user."""


@dataclass(frozen=True, slots=True)
class Switch:
    """The state of a step, on where its severity or a higher one is; `runs` in a row favour the other state."""

    on: bool = False
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """The result for a level: a switch per step, and the change (None where the severity stays) with its reason."""

    switches: tuple[Switch, ...]
    severity: Severity | None
    turn: Turn | None
    why: str


def ladder(return_period_years: float | None) -> Ladder:
    """Return the ladder of a level by its return period; None if a user set the level."""
    common = return_period_years is not None and return_period_years < RARE_YEARS
    return LADDERS["common" if common else "rare"]


def trend(chance: float, before: float) -> Trend:
    """Return the direction of the probability's change since the run before."""
    if abs(chance - before) <= STEADY:
        return "steady"
    return "rising" if chance > before else "falling"


def decide(steps: Ladder, before: Sequence[Switch], chance: float, link: Link) -> Decision:
    """Decide a level's severity by its exceedance probability over the window; `before` is empty for a new level."""
    before = tuple(before) or (Switch(),) * len(steps)
    counted = [_counted(step, switch, chance, link) for step, switch in zip(steps, before, strict=True)]
    turned = [
        Switch(not switch.on) if switch.runs >= _needed(step, switch) else switch
        for step, switch in zip(steps, counted, strict=True)
    ]
    after = tuple(
        # A severity that begins at once also turns on those below it.
        Switch(True) if not switch.on and any(higher.on for higher in turned[at:]) else switch
        for at, switch in enumerate(turned)
    )
    was, now = reached(steps, before), reached(steps, after)
    return Decision(after, now, _turn(was, now), _why(steps, counted, after, was, now, chance, judged=link == "judged"))


def reached(steps: Ladder, switches: Sequence[Switch]) -> Severity | None:
    """Return the highest severity that is on."""
    on = [step.severity for step, switch in zip(steps, switches, strict=False) if switch.on]
    return on[-1] if on else None


def rank(severity: Severity | None) -> int:
    """Return the rank of a severity: 0 for none, then from the least severe."""
    return 0 if severity is None else 1 + SEVERITIES.index(severity)


def _counted(step: Step, switch: Switch, chance: float, link: Link) -> Switch:
    against = chance < step.ends_below if switch.on else chance >= step.begins_at
    if not against:
        return Switch(switch.on)
    if link == "judged":
        return Switch(switch.on, _needed(step, switch))
    if link == "again":
        return Switch(switch.on, max(switch.runs, 1))
    return Switch(switch.on, 1 if link == "anew" else switch.runs + 1)


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
    *,
    judged: bool,
) -> str:
    by_name = {step.severity: (step, count) for step, count in zip(steps, counted, strict=True)}
    if rank(now) > rank(was):
        assert now is not None
        step, count = by_name[now]
        return f"{now.capitalize()} begins: {_reaches(step, chance)} {_how(count, step, judged)}."
    if rank(now) < rank(was):
        assert was is not None
        step, count = by_name[was]
        left = f", and {now} stays" if now else ""
        return f"{was.capitalize()} ends{left}: {_below(step, chance)} {_how(count, step, judged)}."
    state = "No alert" if now is None else now.capitalize()
    waiting = [(step, switch) for step, switch in zip(steps, after, strict=True) if switch.runs]
    if waiting:
        step, count = waiting[-1]
        rule = _below(step, chance) if count.on else _reaches(step, chance)
        return f"{state}: {rule}, in {_runs(count, step)}."
    if now is not None:
        step, _ = by_name[now]
        return f"{state}: a chance of {chance:.3g} is not below {step.ends_below:.3g}, where {now} ends."
    first = steps[0]
    return f"{state}: a chance of {chance:.3g} is below {first.begins_at:.3g}, where {first.severity} begins."


def _reaches(step: Step, chance: float) -> str:
    return f"a chance of {chance:.3g} reaches {step.begins_at:.3g}, where {step.severity} begins"


def _below(step: Step, chance: float) -> str:
    return f"a chance of {chance:.3g} is below {step.ends_below:.3g}, where {step.severity} ends"


def _how(count: Switch, step: Step, judged: bool) -> str:
    return "as a forecaster set it" if judged else f"in {_runs(count, step)}"


def _runs(count: Switch, step: Step) -> str:
    return f"{count.runs} of the {counted(_needed(step, count), 'run')} in a row that it takes"
