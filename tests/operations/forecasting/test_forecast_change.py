"""A run's change since the previous one: parts that add up, each of them the change by one input alone."""

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.attribution import PARTS, interaction, whole_change
from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from jobspec.jobs.forecasting import ForecastParams, ReplayParams
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_summary import RunChange
from records.runs.runs import RunRequest
from records.series import series_writer
from records.versions import promotions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK, configuration
from testing.records import a_reason, a_source, daily
from testing.training import train
from testing.work import work_of

pytestmark = pytest.mark.extended

BASIN = BASINS[1]
HORIZON = 5
Array = npt.NDArray[np.float64]


def played(database: Database, days: str, traces: int = 3) -> list[run_types.Run]:
    params = ReplayParams(period=Period.parse(days), horizon=HORIZON, traces=traces)
    return replay(work_of(database, CLOCK), RunRequest(params)).runs


def mean(database: Database, run: run_types.Run, basin: str = BASIN) -> Array:
    with database.reading() as session:
        return run_arrays.mean_of_members(runs.series_of(session, run.id, basin, ("discharge",)))


def rerun(
    database: Database, of: run_types.Run, weather: run_types.Run, horizon: int, version: str | None = None
) -> Array:
    """Return the flow from the T0 of a run, with the weather forecast of another."""
    assert weather.weather is not None
    params = ForecastParams(
        basins=[BASIN],
        t0=of.t0,
        horizon=horizon,
        weather="supplied",
        weather_id=weather.weather.id,
        version=version or of.version_id,
    )
    (run,) = forecast(work_of(database, CLOCK), RunRequest(params, purpose="on-request"))
    return mean(database, run)


def change(database: Database, run: run_types.Run, basin: str = BASIN) -> tuple[RunChange, Array]:
    with database.reading() as session:
        found = runs.basin_of(session, run.id, basin).summary.change
        parts = runs.series_of(session, run.id, basin, (run_arrays.CHANGES,))[run_arrays.CHANGES]
    assert isinstance(found, RunChange)
    assert list(parts.axes["part"]) == [*PARTS]
    return found, parts.values


def test_the_parts_add_up_and_each_is_of_one_input(trained_store: Database) -> None:
    first, second, third = played(trained_store, "2005-04-02..2005-04-04")
    found, parts = change(trained_store, third)
    assert (found.run, found.t0, found.version) == (second.id, str(second.t0), second.version_id)
    earlier, later = mean(trained_store, second)[1:], mean(trained_store, third)[:-1]
    np.testing.assert_allclose(whole_change(parts), later - earlier, rtol=1e-6, atol=1e-12)
    between = rerun(trained_store, third, second, HORIZON - 1)
    of = dict(zip(PARTS, parts[0], strict=True))
    np.testing.assert_allclose(of["observed_weather"], between - earlier, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(of["weather_forecast"], later - between, rtol=1e-6, atol=1e-9)
    assert not of["revised_data"].any()
    assert not of["model_version"].any()
    assert np.isnan(of["observed_flow"]).all()
    assert found.without_flow == absent(Reason.UNCALIBRATED_CHANGE)
    assert np.nansum(np.abs(interaction(parts))) > 0
    np.testing.assert_allclose(np.nansum(interaction(parts), axis=0), 0, atol=1e-12)
    assert found.ahead_mm != found.ahead_before_mm
    with trained_store.reading() as session:
        of_first = runs.basin_of(session, first.id, BASIN).summary.change
    assert of_first == absent(Reason.NO_PREVIOUS_RUN, days=10, t0=str(first.t0))


def test_revised_weather_before_the_previous_t0_is_a_part_of_its_own(trained_store: Database) -> None:
    (earlier_run,) = played(trained_store, "2005-04-03..2005-04-03")
    with trained_store.transaction() as session:
        rain = daily("2005-03-20", *[30.0] * 5)
        series_writer.write(session, BASIN, "synthetic", "precipitation", rain, a_source(session), CLOCK.now())
        states.invalidate(session, BASIN, "synthetic", day("2005-03-20"), a_reason("revised"), CLOCK.now())
    (later_run,) = played(trained_store, "2005-04-04..2005-04-04")
    found, parts = change(trained_store, later_run)
    earlier, later = mean(trained_store, earlier_run), mean(trained_store, later_run)
    np.testing.assert_allclose(whole_change(parts), later[:-1] - earlier[1:], rtol=1e-6, atol=1e-12)
    assert found.without_reverse is None
    np.testing.assert_allclose(np.nansum(parts[1], axis=0), later[:-1] - earlier[1:], rtol=1e-6, atol=1e-12)
    revised = rerun(trained_store, earlier_run, earlier_run, HORIZON)
    np.testing.assert_allclose(parts[0, 0], (revised - earlier)[1:], rtol=1e-5, atol=1e-9)
    assert np.abs(parts[0, 0]).max() > 0.01
    _, unrevised = change(trained_store, later_run, BASINS[0])
    assert not unrevised[0, 0].any()


def test_a_promoted_version_is_a_part_of_its_own(trained_store: Database) -> None:
    (earlier_run,) = played(trained_store, "2005-04-03..2005-04-03")
    other = train(work_of(trained_store, CLOCK), configuration(seed=7, members=1), BASINS).version_id
    with trained_store.transaction() as session:
        promotions.promote(session, other, BASINS, reason="it is tried", by="a test", at=CLOCK.now())
    (later_run,) = played(trained_store, "2005-04-04..2005-04-04")
    assert (earlier_run.version_id, later_run.version_id) != (other, earlier_run.version_id)
    found, parts = change(trained_store, later_run)
    later = mean(trained_store, later_run)[:-1]
    np.testing.assert_allclose(whole_change(parts), later - mean(trained_store, earlier_run)[1:], rtol=1e-6, atol=1e-12)
    before = rerun(trained_store, later_run, later_run, HORIZON - 1, earlier_run.version_id)
    of = dict(zip(PARTS, parts[0], strict=True))
    np.testing.assert_allclose(of["model_version"], later - before, rtol=1e-5, atol=1e-9)
    assert found.version == earlier_run.version_id
    assert found.without_reverse is None


@pytest.mark.parametrize("traces", [(2, 3), (3, 1)])
def test_weather_forecasts_of_other_numbers_of_traces_are_split_too(
    trained_store: Database, traces: tuple[int, int]
) -> None:
    (earlier,) = played(trained_store, "2005-04-03..2005-04-03", traces[0])
    (later,) = played(trained_store, "2005-04-04..2005-04-04", traces[1])
    _, parts = change(trained_store, later)
    expected = mean(trained_store, later)[:-1] - mean(trained_store, earlier)[1:]
    for order in parts:
        np.testing.assert_allclose(np.nansum(order, axis=0), expected, rtol=1e-6, atol=1e-12)


def test_climatology_is_compared_like_any_weather(trained_store: Database) -> None:
    for at in (datetime(2005, 4, 3, 14, tzinfo=UTC), datetime(2005, 4, 4, 14, tzinfo=UTC)):
        params = ForecastParams(basins=[BASIN], horizon=HORIZON, weather="climatology")
        (run,) = forecast(work_of(trained_store, Clock(at)), RunRequest(params))
    _, parts = change(trained_store, run)
    assert np.abs(parts[0, 1]).max() > 0
