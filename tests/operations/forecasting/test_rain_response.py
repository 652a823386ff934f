"""The response to rain that an operational run stores is that of the networks, with that rain and no other."""

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.extremes.rain_margin import RAIN_MM, RESPONSE_DAYS, START_LEADS, WINDOW_DAYS
from jobspec.jobs.forecasting import ForecastParams
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing, load_forcing
from operations.forecasting.forecast import forecast
from operations.forecasting.simulate import InitialState, peaks_by_rain
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import member_states
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs, states
from records.runs.runs import RunRequest
from testing.country import BASINS, CLOCK
from testing.work import work_of

T0 = day("2004-03-10")


def issued(database: Database, purpose: run_types.Purpose = "operational", **request: object) -> run_types.Run:
    params = ForecastParams.model_validate({"basins": [*BASINS], "t0": T0} | request)
    (run,) = forecast(work_of(database, CLOCK), RunRequest(params, purpose=purpose))
    return run


def peaks_of(database: Database, run: run_types.Run, basin: str) -> run_arrays.RunSeries:
    with database.reading() as session:
        return runs.series_of(session, run.id, basin)[run_types.PEAKS_BY_RAIN]


def simulated(
    database: Database, run: run_types.Run, basin: str, rain: list[float], auxiliary: np.ndarray | None = None
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return each member's flow of some days after T0 with their rain, in one run from the stored state."""
    with database.reading() as session:
        loaded = load_version(session, run.version_id)
        forcing = load_forcing(session, basin, loaded.config)
        state = states.get(session, run.version_id, basin, T0)
    assert isinstance(forcing, BasinForcing)
    ahead = forcing.forcing.over(Period(T0 + 1, T0 + len(rain)))
    used = ahead.auxiliary if auxiliary is None else auxiliary
    wet = Forcing(ahead.first, np.array([rain], np.float32), used, ahead.static, ahead.ids)
    outputs, _ = loaded.ensemble.simulate(wet, member_states([state], len(loaded.labels)), ("discharge",))
    return np.asarray(outputs["discharge"][:, 0])


def test_each_peak_is_that_of_one_run_with_the_rain_of_its_window(trained_store: Database) -> None:
    run = issued(trained_store, horizon=10)
    peaks = peaks_of(trained_store, run, BASINS[1])
    assert peaks.values.shape == (len(WINDOW_DAYS), len(START_LEADS), len(RAIN_MM), 2)
    assert (peaks.axes["rain"], peaks.axes["member"]) == ([*RAIN_MM], ["0", "1"])
    for row, window in enumerate(WINDOW_DAYS):
        for at, lead in enumerate(START_LEADS):
            for size in (0, 1, len(RAIN_MM) - 1):
                each = float(np.float32(RAIN_MM[size]) / window)
                rain = [0.0] * (lead - 1) + [each] * window + [0.0] * RESPONSE_DAYS
                highest = simulated(trained_store, run, BASINS[1], rain)[:, lead - 1 :].max(axis=1)
                np.testing.assert_allclose(peaks.values[row, at, size], highest, rtol=1e-6)


def test_other_weather_is_the_mean_of_the_traces(trained_store: Database) -> None:
    run = issued(trained_store, horizon=10, weather="climatology")
    hindcast = issued(trained_store, horizon=10)
    assert (peaks_of(trained_store, run, BASINS[0]).values != peaks_of(trained_store, hindcast, BASINS[0]).values).any()


def test_windows_that_end_after_the_horizon_are_left_out(trained_store: Database) -> None:
    peaks = peaks_of(trained_store, issued(trained_store, horizon=2), BASINS[0]).values
    known = ~np.isnan(peaks).any(axis=(2, 3))
    assert known.tolist() == [[True, True, False], [True, False, False], [False, False, False]]
    whole = peaks_of(trained_store, issued(trained_store, horizon=10), BASINS[0]).values
    assert (peaks[known] <= whole[known]).all()


def test_past_days_have_their_own_weather_and_the_rain_falls_after_them(trained_store: Database) -> None:
    issued(trained_store, horizon=10)
    later = issued(trained_store, t0=T0 + 2, horizon=8)
    with trained_store.reading() as session:
        loaded = load_version(session, later.version_id)
        forcing = load_forcing(session, BASINS[1], loaded.config)
        state = states.get(session, later.version_id, BASINS[1], T0)
    assert isinstance(forcing, BasinForcing)
    assert state is not None
    ahead = WeatherAhead(None, forcing.forcing.over(Period(T0 + 1, T0 + 10)))
    (peaks,) = peaks_by_rain(loaded, [InitialState(state, ahead, None)], past=2)
    np.testing.assert_allclose(peaks, peaks_of(trained_store, later, BASINS[1]).values, rtol=1e-5)


@pytest.mark.parametrize("purpose", ["reforecast", "on-request"])
def test_runs_that_never_become_the_latest_do_not_compute_it(
    trained_store: Database, purpose: run_types.Purpose
) -> None:
    run = issued(trained_store, purpose=purpose)
    with trained_store.reading() as session:
        assert run_types.PEAKS_BY_RAIN not in runs.series_of(session, run.id, BASINS[0])
