"""Events against hydrographs drawn by hand, scipy and neuralhydrology."""

import warnings
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import find_peaks

from hydrology.base.absent import Absent
from hydrology.base.reasons import Reason
from hydrology.scores.events import MIN_APART, VALLEY, EventError, EventScores, cut_events, match_events
from tests.hydrology.scores.test_peaks import AT, hydrograph

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import neuralhydrology.evaluation.metrics as neural
    import xarray

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


def test_errors_of_a_late_low_and_a_missed_event_and_a_false_alarm() -> None:
    observed = drawn((10, [6, 10, 6]), (30, [6, 8, 6]), days=80)
    simulated = drawn((11, [5, 8, 5]), (55, [7, 9, 6]), days=80)
    first, missed, alarm = match_events(simulated, observed, 4.0)
    # over the days 10 to 13 of either event: 6 + 10 + 6 + 1 observed, 1 + 5 + 8 + 5 simulated
    expected = {"peak_time_days": 1, "peak_height_percent": -20, "volume_percent": 100 * (19 / 23 - 1), "onset_days": 1}
    assert first.errors == pytest.approx(expected)
    assert (missed.peak, missed.simulated, missed.errors) == (31, None, None)
    assert (alarm.peak, alarm.observed, alarm.errors) == (56, None, None)
    scores = EventScores.of([first, missed, alarm])
    assert (scores.observed, scores.simulated, scores.matched) == (2, 2, 1)
    assert (scores.missed_share, scores.false_alarm_share) == (0.5, 0.5)
    assert scores.errors.onset_days == EventError(1, 1, 1)


def test_an_event_beside_a_gap_or_an_end_is_not_judged() -> None:
    observed = drawn((0, [9, 5]), (10, [6, 10, 6]), (30, [6, 8, 6]), days=60)
    simulated = drawn((10, [6, 10, 6]), days=60)
    assert [pair.peak for pair in match_events(simulated, observed, 4.0)] == [11, 31]
    observed[[9, 36]] = np.nan
    assert [pair.peak for pair in match_events(simulated, observed, 4.0)] == [31]
    observed[35] = observed[33] = np.nan
    assert match_events(simulated, observed, 4.0) == []


def test_without_events_there_is_a_reason() -> None:
    scores = EventScores.of([])
    expected = Reason.NO_EVENT, Reason.NO_SIMULATED_EVENT, Reason.NO_MATCHED_EVENT
    found = scores.missed_share, scores.false_alarm_share, scores.errors.onset_days
    assert [isinstance(value, Absent) and value.code for value in found] == [reason.name.lower() for reason in expected]


# What neuralhydrology asks of xarray, and xarray of pandas, is about to be dropped.
@pytest.mark.filterwarnings("ignore:Behaviour of argmin/argmax:FutureWarning")
@pytest.mark.filterwarnings("ignore:The 'name' property is deprecated")
def test_peak_times_and_misses_equal_those_of_neuralhydrology() -> None:
    observed, simulated, shifted = hydrograph(*AT), hydrograph(61, 199, 340, 420), hydrograph(61, 199, 340, 483)
    time = np.datetime64("2000-01-01", "ns") + np.arange(len(observed)) * np.timedelta64(1, "D")
    obs, sim, moved = (
        xarray.DataArray(flow, coords={"date": time}, dims="date") for flow in (observed, simulated, shifted)
    )
    scores = EventScores.of(match_events(simulated, observed, float(np.percentile(observed, 80))))
    assert scores.missed_share == pytest.approx(neural.missed_peaks(obs, sim)) == 0.25
    timing = EventScores.of(match_events(shifted, observed, 5.0)).errors.peak_time_days
    assert isinstance(timing, EventError)
    assert timing.absolute == pytest.approx(neural.mean_peak_timing(obs, moved)) == 1.25
