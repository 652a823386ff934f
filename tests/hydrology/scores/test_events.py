"""Events against hydrographs drawn by hand, and scipy."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import find_peaks

from hydrology.scores.events import MIN_APART, VALLEY, cut_events

Array = npt.NDArray[np.float64]


def drawn(*pieces: tuple[int, list[float]], days: int = 40) -> Array:
    """A base flow of 1, with flows from some days on."""
    flow = np.ones(days)
    for first, values in pieces:
        flow[first : first + len(values)] = values
    return flow


def spans(flow: Array, threshold: float) -> list[tuple[int, int, int]]:
    return [(event.start, event.peak, event.end) for event in cut_events(flow, threshold)]


def test_an_event_lasts_while_flow_is_above_the_threshold() -> None:
    assert spans(drawn((10, [3, 6, 9, 5, 4, 2])), 4) == [(11, 12, 13)]
    assert spans(drawn(), 4) == []


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (12 + 4, [(11, 12, 17)]),  # too near: one event over the dip
        (12 + 7, [(11, 12, 13), (18, 19, 20)]),  # independent
    ],
)
def test_peaks_near_each_other_are_one_event(second: int, expected: list[tuple[int, int, int]]) -> None:
    assert spans(drawn((11, [5, 9, 5]), (second - 1, [5, 8, 5])), 4) == expected


def test_peaks_without_a_valley_are_one_event_and_with_one_are_split_in_it() -> None:
    high, low = [9.0, 8.0, 7.5, 7.2, 7.0, 6.9, 6.5], [9.0, 8.0, 7.0, 5.0, 5.9, 6.2, 6.5]
    rise = [7.0, 8.0, 5.0]
    assert spans(drawn((10, high + rise)), 4) == [(10, 10, 19)]
    assert spans(drawn((10, low + rise)), 4) == [(10, 10, 12), (13, 18, 19)]


def test_of_equal_maxima_the_first_day_is_the_peak() -> None:
    assert spans(drawn((10, [5, 9, 9, 5])), 4) == [(10, 11, 13)]


@pytest.mark.parametrize("seed", range(20))
def test_events_are_disjoint_cover_the_flow_above_and_have_independent_peaks(seed: int) -> None:
    random = np.random.default_rng(seed)
    flow, threshold = random.gamma(1 + seed % 4, 2, 400), 3.0 + seed % 5
    events = cut_events(flow, threshold)
    covered = np.zeros(len(flow), dtype=int)
    for event in events:
        covered[event.start : event.end + 1] += 1
        assert event.height == flow[event.start : event.end + 1].max() == flow[event.peak]
    assert covered.max(initial=0) <= 1
    assert covered[flow > threshold].all()
    for before, after in pairwise(events):
        assert after.peak - before.peak >= MIN_APART
        assert flow[before.peak : after.peak].min() < VALLEY * min(before.height, after.height)


@pytest.mark.parametrize("seed", range(10))
def test_where_flow_falls_between_them_peaks_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    flow = np.zeros(1000)
    for day in range(10, 980, 20):  # pairs of spikes, each pair far from the next
        flow[day], flow[day + random.integers(2, 10)] = random.uniform(1, 20, 2)
    expected = find_peaks(flow, height=5, distance=MIN_APART)[0]
    assert [event.peak for event in cut_events(flow, 5)] == expected.tolist()
