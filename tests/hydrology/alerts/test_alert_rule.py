"""What the rules of alerts promise, whatever the chances are."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.alerts import (
    ENDS_AFTER,
    LADDERS,
    SEVERITIES,
    STEADY,
    Decision,
    Ladder,
    Link,
    Switch,
    decide,
    ladder,
    rank,
    reached,
    trend,
)

RARE = LADDERS["rare"]
CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=40)
LINKS: st.SearchStrategy[Link] = st.sampled_from(["next", "again", "anew"])
STEPS = st.sampled_from(list(LADDERS.values()))


def run(chances: Sequence[float], steps: Ladder = RARE, link: Link = "next") -> list[Decision]:
    """Decide chances one after the other, from nothing on."""
    decisions: list[Decision] = []
    for chance in chances:
        before = decisions[-1].switches if decisions else ()
        decisions.append(decide(steps, before, chance, link))
    return decisions


def states(chances: Sequence[float]) -> list[str | None]:
    return [decision.severity for decision in run(chances)]


def test_every_ladder_rises_and_each_step_ends_below_where_it_begins() -> None:
    for steps in LADDERS.values():
        assert [step.severity for step in steps] == list(SEVERITIES[: len(steps)])
        for step in steps:
            assert 0 < step.ends_below < step.begins_at < 1
        for lower, higher in pairwise(steps):
            assert lower.begins_at < higher.begins_at
            assert lower.ends_below < higher.ends_below
            assert lower.begins_after >= higher.begins_after


def test_levels_that_are_passed_often_take_a_higher_chance() -> None:
    assert ladder(2) == LADDERS["common"]
    assert ladder(5) == ladder(50) == ladder(None) == RARE


def test_an_advisory_begins_after_two_runs_and_ends_after_two_below_its_lower_chance() -> None:
    assert states([0.25, 0.25, 0.15, 0.05, 0.15, 0.05, 0.05]) == [None, *["advisory"] * 5, None]
    turns = [decision.turn for decision in run([0.25, 0.25, 0.45, 0.45, 0.25, 0.25, 0.0, 0.0])]
    assert turns == [None, "begins", None, "rises", None, "falls", None, "ends"]


def test_a_warning_begins_with_one_run() -> None:
    (decision,) = run([0.7])
    assert (decision.severity, decision.turn) == ("warning", "begins")
    assert decision.why == (
        "Warning begins: a chance of 0.7 reaches 0.7, where warning begins in 1 of the 1 run in a row that it takes."
    )


@given(STEPS, CHANCES, st.data())
def test_between_its_two_chances_a_severity_neither_begins_nor_ends(
    steps: Ladder, before: list[float], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(steps) - 1))
    step, higher = steps[at], steps[at + 1 :]
    band = st.floats(step.ends_below, min([step.begins_at, *(above.begins_at for above in higher)]), exclude_max=True)
    was = run(before, steps)[-1]
    for chance in data.draw(st.lists(band, max_size=20)):
        now = decide(steps, was.switches, chance, "next")
        assert now.switches[at].on == was.switches[at].on
        was = now


@given(STEPS, CHANCES)
def test_a_severity_changes_only_after_enough_consecutive_runs(steps: Ladder, chances: list[float]) -> None:
    decisions = run(chances, steps)
    for at, decision in enumerate(decisions):
        before = decisions[at - 1].severity if at else None
        if rank(decision.severity) > rank(before):
            step = next(step for step in steps if step.severity == decision.severity)
            last = chances[max(0, at + 1 - step.begins_after) : at + 1]
            assert len(last) == step.begins_after
            assert min(last) >= step.begins_at
        elif rank(decision.severity) < rank(before):
            step = next(step for step in steps if step.severity == before)
            assert at + 1 >= ENDS_AFTER
            assert max(chances[at + 1 - ENDS_AFTER : at + 1]) < step.ends_below


@given(STEPS, st.lists(st.tuples(st.floats(0, 1), LINKS), max_size=40))
def test_a_higher_severity_holds_those_below_it(steps: Ladder, runs: list[tuple[float, Link]]) -> None:
    switches: tuple[Switch, ...] = ()
    for chance, link in runs:
        decision = decide(steps, switches, chance, link)
        switches = decision.switches
        on = [switch.on for switch in switches]
        assert on == sorted(on, reverse=True)
        assert decision.severity == reached(steps, switches)


@given(STEPS, CHANCES, st.floats(0, 1))
def test_runs_of_the_same_day_count_as_one(steps: Ladder, before: list[float], chance: float) -> None:
    was = run(before, steps)[-1]
    once = decide(steps, was.switches, chance, "again")
    assert decide(steps, once.switches, chance, "again").switches == once.switches


def test_after_a_break_the_count_of_runs_restarts() -> None:
    (first,) = run([0.25])
    assert first.switches[0].runs == 1
    assert decide(RARE, first.switches, 0.25, "anew").severity is None
    assert decide(RARE, first.switches, 0.25, "again").severity is None
    assert decide(RARE, first.switches, 0.25, "next").severity == "advisory"


@given(STEPS, CHANCES)
def test_the_same_chances_lead_to_the_same_decisions(steps: Ladder, chances: list[float]) -> None:
    assert run(chances, steps) == run(chances, steps)


@given(STEPS, CHANCES, st.floats(0, 1))
def test_the_reason_names_the_chance_and_the_severity(steps: Ladder, before: list[float], chance: float) -> None:
    was = run(before, steps)[-1]
    decision = decide(steps, was.switches, chance, "next")
    assert f"a chance of {chance:.3g} " in decision.why
    named = decision.severity if rank(decision.severity) >= rank(was.severity) else was.severity
    assert decision.why.startswith("No alert" if named is None else named.capitalize())


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [(0.2, 0.25, "steady"), (0.2, 0.2 + 2 * STEADY, "rising"), (0.4, 0.2, "falling"), (0.0, 0.0, "steady")],
)
def test_a_trend_is_a_move_that_counts(before: float, now: float, expected: str) -> None:
    assert trend(now, before) == expected


def test_the_reason_for_waiting_gives_the_number_of_runs() -> None:
    (waiting,) = run([0.25])
    assert waiting.why == (
        "No alert: a chance of 0.25 reaches 0.2, where advisory begins, in 1 of the 2 runs in a row that it takes."
    )
    assert run([0.25, 0.25, 0.15])[-1].why == "Advisory: a chance of 0.15 is not below 0.1, where advisory ends."
    assert run([0.05])[-1].why == "No alert: a chance of 0.05 is below 0.2, where advisory begins."
