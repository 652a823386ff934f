"""What becomes of the water in a basin if nothing more falls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.water.storage import MILESTONES, Drained, first_days_below, milestones, reached_by

FLOW = [[3.0, 2.0, 1.0, 0.5], [4.0, 3.0, 2.0, 1.0]]


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 1000))
def test_discharge_loss_and_remaining_storage_sum_to_the_initial_storage(members: int, days: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    held = draw.uniform(10, 500, members)
    discharge, loss = draw.uniform(0, 10 / days / 2, (2, members, days))
    storage = held[:, None] - (discharge + loss).cumsum(axis=1)
    drained = Drained.of(discharge, loss, storage, held)
    np.testing.assert_allclose(
        drained.runs_off + drained.lost + drained.left, np.repeat(held[:, None], days, axis=1), rtol=1e-9
    )
    assert (drained.runs_off <= drained.held[:, None]).all()
    assert (np.diff(drained.runs_off, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("days", "expected"),
    [(5, [5]), (10, [10]), (11, [10, 11]), (180, [10, 30, 90, 180]), (366, [*MILESTONES, 366])],
)
def test_totals_are_reported_at_milestones_and_at_the_end(days: int, expected: list[int]) -> None:
    assert milestones(days) == expected


@pytest.mark.parametrize(
    ("level", "expected"), [(5.0, [1, 1]), (3.0, [2, 3]), (2.0, [3, 4]), (1.0, [4, np.inf]), (0.1, [np.inf, np.inf])]
)
def test_flow_is_below_a_level_from_the_first_day_on_that_it_is_less(level: float, expected: list[float]) -> None:
    assert first_days_below(FLOW, level).tolist() == expected


def test_the_first_day_of_a_share_of_members_exists_or_is_never() -> None:
    days = np.array([7.0, 3.0, np.inf, 5.0, 9.0, 4.0, 6.0, 8.0, 10.0, 11.0])
    assert [reached_by(days, share) for share in (0.05, 0.1, 0.11, 0.5, 0.9)] == [3, 3, 4, 7, 11]
    assert reached_by(days, 0.95) is None
    assert reached_by(np.array([np.inf]), 0.05) is None


@given(st.lists(st.integers(1, 366), min_size=1, max_size=40), st.floats(0.01, 1.0))
def test_no_fewer_than_that_share_have_got_there_and_the_day_before_fewer_had(days: list[int], share: float) -> None:
    when = np.array(days, float)
    day = reached_by(when, share)
    assert day is not None
    assert (when <= day).mean() >= share - 1e-9
    assert (when < day).mean() < share + 1e-9
