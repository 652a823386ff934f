"""Scores of events against hydrographs drawn by hand, and neuralhydrology."""

import warnings

import numpy as np
import pytest

from extensions.events.scoring import EventError, EventScores, match_events
from hydrology.base.absent import Absent
from hydrology.base.reasons import Reason
from tests.hydrology.scores.test_events import drawn
from tests.hydrology.scores.test_peaks import AT, hydrograph

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import neuralhydrology.evaluation.metrics as neural
    import xarray


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
