"""An error model is fitted to years that the weights have not seen, and forecasts carry its quantiles."""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy import delete, update

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, as_date, day
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.uncertainty.error_model import LEVELS, errors_of
from hydrology.uncertainty.error_network import DaysAhead
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import load_discharge, load_forcing
from operations.forecasting.forecast import forecast
from operations.states.advance_states import ONE_DAY
from operations.verification.calibrate import calibrate
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_summary import RunCalibration
from records.runs.runs import RunRequest
from records.series.year_rows import SERIES
from records.versions import error_models, versions
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.forecasting.test_forecast import one_run

UNSEEN = Period.parse("2003-10-01..2005-09-30")
T0 = day("2004-03-10")
BASIN = BASINS[0]
LOW, MEDIAN, HIGH = (LEVELS.index(level) for level in (0.05, 0.5, 0.95))


def newest(database: Database) -> str:
    with database.reading() as session:
        return versions.newest(session).id


@pytest.fixture
def calibrated(trained_store: Database) -> Database:
    """The country with a version that has an error model."""
    calibrate(work_of(trained_store, CLOCK), newest(trained_store), BASINS, UNSEEN)
    return trained_store


def reported(
    database: Database, run: run_types.Run, basin: str = BASIN
) -> tuple[run_types.RunBasin, Mapping[str, run_arrays.RunSeries]]:
    with database.reading() as session:
        (row,) = [row for row in runs.basins_of(session, run.id) if row.basin_id == basin]
        return row, runs.series_of(session, run.id, basin)


def test_without_an_error_model_an_uncalibrated_forecast_gives_the_reason(trained_store: Database) -> None:
    row, series = reported(trained_store, one_run(trained_store))
    assert run_arrays.CALIBRATED not in series
    assert row.summary.calibration == row.why_not_calibrated
    assert "has no error model: fit one (freshet calibrate)." in str(row.why_not_calibrated)


def test_it_is_fitted_to_what_was_simulated_from_the_empty_store(trained_store: Database) -> None:
    done = calibrate(work_of(trained_store, CLOCK), newest(trained_store), BASINS, UNSEEN)
    with trained_store.reading() as session:
        model = error_models.get(session, done.fitted, [BASIN])
        loaded = load_version(session, done.version_id)
        forcing = load_forcing(session, BASIN, loaded.config)
        observed = load_discharge(session, BASIN, loaded.version.area_products, UNSEEN)
    assert model is not None
    assert not isinstance(forcing, Absent)
    assert not isinstance(observed, Absent)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("discharge",))
    first = int((UNSEEN.first - forcing.period.first).astype(int))
    simulated = outputs["discharge"].mean(axis=0)[0, first : first + len(UNSEEN)]
    assert model.basins[BASIN].mean_flow == pytest.approx(float(simulated.mean()), rel=1e-5)
    assert (model.sha256, model.period, model.days) == (done.sha256, UNSEEN, done.days)
    assert done.days == len(BASINS) * len(UNSEEN)
    assert done.own == 0  # two years are too few for numbers of their own
    errors = errors_of(model.basins[BASIN], simulated.astype(float), observed.astype(float))
    assert np.abs(np.median(errors) - np.median(model.shape.centre[-1])) < 2 * np.abs(errors).mean()


def test_years_that_the_weights_were_fitted_to_are_refused(trained_store: Database) -> None:
    with pytest.raises(InvalidInput, match=r"overlaps 2001-10-01\.\.2003-09-30, which version"):
        calibrate(work_of(trained_store, CLOCK), newest(trained_store), BASINS, Period.parse("2003-09-01..2004-09-30"))


def test_too_few_days_leave_what_was_stored(calibrated: Database) -> None:
    version = newest(calibrated)
    with calibrated.reading() as session:
        before = error_models.get(session, version, BASINS)
    with pytest.raises(DataProblem, match="observed days over all basins"):
        calibrate(work_of(calibrated, CLOCK), version, BASINS, Period.parse("2003-10-01..2003-10-20"))
    with calibrated.reading() as session:
        after = error_models.get(session, version, BASINS)
    assert before is not None
    assert after is not None
    assert (before.sha256, before.created_at) == (after.sha256, after.created_at)


def test_a_hindcast_starts_from_the_last_observed_flow(calibrated: Database) -> None:
    run = one_run(calibrated, horizon=5)
    row, series = reported(calibrated, run)
    with calibrated.reading() as session:
        state = states.get(session, run.version_id, BASIN, T0)
        observed = load_discharge(session, BASIN, ["synthetic"], Period(T0, T0))
        model = error_models.get(session, run.version_id, [BASIN])
    assert state is not None
    assert state.recent_flow is not None
    assert model is not None
    assert not isinstance(observed, Absent)
    used = row.summary.calibration
    assert isinstance(used, RunCalibration)
    assert (used.sha256, used.fitted_on, used.own_days) == (model.sha256, str(UNSEEN), 0)
    assert used.last_flow_day == str(T0)
    assert used.last_flow_mm == pytest.approx(float(observed[0]))
    error = errors_of(model.basins[BASIN], state.recent_flow[-1:].astype(float), observed.astype(float))
    simulated = series["discharge"].values.mean(axis=0, dtype=np.float64)
    of_basin = model.of_basin(BASIN)
    assert of_basin is not None
    expected = of_basin.quantiles(DaysAhead.after(simulated, np.arange(1.0, 6.0), np.repeat(error, 5)))
    calibrated_flow = series[run_arrays.CALIBRATED]
    assert (calibrated_flow.axes, calibrated_flow.unit) == ({"level": [*LEVELS], "lead": [1, 2, 3, 4, 5]}, "mm/day")
    np.testing.assert_allclose(calibrated_flow.values.T, expected, rtol=1e-5, atol=1e-6)
    assert (np.diff(calibrated_flow.values, axis=0) >= 0).all()


def test_without_recent_flow_it_is_the_error_of_any_day(calibrated: Database) -> None:
    with_flow = reported(calibrated, one_run(calibrated))[1][run_arrays.CALIBRATED].values
    with calibrated.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, variable="discharge", year=as_date(T0).year))
    later = T0 + 20 * ONE_DAY  # flow is known until 70 days before
    row, _ = reported(calibrated, one_run(calibrated, t0=later))
    assert isinstance(row.summary.calibration, RunCalibration)
    assert row.summary.calibration.last_flow_day is None
    without = reported(calibrated, one_run(calibrated))[1][run_arrays.CALIBRATED].values
    assert not np.allclose(with_flow, without)


def test_days_one_by_one_use_the_same_recent_flow_as_all_at_once(calibrated: Database) -> None:
    for at in range(4):
        one_run(calibrated, t0=T0 + at * ONE_DAY, horizon=2)
    version = newest(calibrated)
    with calibrated.reading() as session:
        stepped = states.get(session, version, BASIN, T0 + 3 * ONE_DAY)
        loaded = load_version(session, version)
        forcing = load_forcing(session, BASIN, loaded.config)
    assert stepped is not None
    assert stepped.recent_flow is not None
    assert not isinstance(forcing, Absent)
    days = forcing.forcing.over(Period(forcing.period.first, stepped.day))
    outputs, _ = loaded.ensemble.simulate(days, None, ("discharge",))
    np.testing.assert_allclose(stepped.recent_flow, outputs["discharge"][:, 0, -30:].mean(axis=0), rtol=1e-5, atol=1e-7)


def test_other_years_are_mixed_and_wider_than_any_one(calibrated: Database) -> None:
    hindcast = reported(calibrated, one_run(calibrated, horizon=20))[1][run_arrays.CALIBRATED].values
    row, series = reported(calibrated, one_run(calibrated, horizon=20, weather="climatology"))
    mixture = series[run_arrays.CALIBRATED].values
    assert row.summary.traces == 4
    assert mixture.shape == hindcast.shape
    widths = mixture[HIGH] - mixture[LOW]
    traces = series["discharge"].values.mean(axis=0, dtype=np.float64)
    assert (widths[10:] > np.ptp(traces, axis=0)[10:]).all()
    assert (np.diff(mixture, axis=0) >= 0).all()


def test_a_forecast_of_a_basin_without_fitted_errors_gives_the_reason(calibrated: Database) -> None:
    with calibrated.transaction() as session:
        session.execute(delete(BASIN_ERRORS).filter_by(basin_id=BASINS[2]))
    run = one_run(calibrated)
    assert isinstance(reported(calibrated, run, BASINS[0])[0].summary.calibration, RunCalibration)
    row, series = reported(calibrated, run, BASINS[2])
    assert run_arrays.CALIBRATED not in series
    assert "was not fitted to the flow of SYNTH-03" in str(row.why_not_calibrated)


def test_a_run_retains_its_error_model_when_another_is_fitted(calibrated: Database) -> None:
    run = one_run(calibrated)
    before, _ = reported(calibrated, run)
    again = calibrate(work_of(calibrated, CLOCK), newest(calibrated), BASINS, Period.parse("2003-10-01..2005-09-29"))
    after, _ = reported(calibrated, run)
    (newer,) = forecast(
        work_of(calibrated, Clock(datetime(2004, 4, 1, tzinfo=UTC))),
        RunRequest(ForecastParams(basins=[*BASINS], t0=T0, horizon=3)),
    )
    row, _ = reported(calibrated, newer)
    assert before.summary.calibration == after.summary.calibration
    assert isinstance(before.summary.calibration, RunCalibration)
    assert isinstance(row.summary.calibration, RunCalibration)
    assert row.summary.calibration.sha256 == again.sha256 != before.summary.calibration.sha256


@pytest.mark.parametrize("for_unseen", [True, False])
def test_an_ungauged_basin_gets_the_regional_error_model_where_it_applies(
    trained_store: Database, for_unseen: bool
) -> None:
    version, never_met = newest(trained_store), BASINS[-1]
    calibrate(work_of(trained_store, CLOCK), version, BASINS[:-1], UNSEEN)
    with trained_store.transaction() as session:
        session.execute(update(ERROR_MODELS).values(for_unseen=for_unseen))
    run = one_run(trained_store, horizon=5)
    row, series = reported(trained_store, run, never_met)
    if not for_unseen:
        assert run_arrays.CALIBRATED not in series
        assert "no regional numbers" in str(row.why_not_calibrated)
        return
    assert isinstance(row.summary.calibration, RunCalibration)
    assert row.summary.calibration.own_days == 0
    with trained_store.reading() as session:
        model = error_models.get(session, version, [never_met])
        loaded = load_version(session, version)
        forcing = load_forcing(session, never_met, loaded.config)
    assert model is not None
    assert not isinstance(forcing, Absent)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("discharge",))
    errors = model.basins[never_met]
    assert errors.mean_flow == pytest.approx(float(outputs["discharge"].mean()), rel=1e-5)
    np.testing.assert_array_equal(errors.centre, model.regional.centre)
    again, _ = reported(trained_store, one_run(trained_store, horizon=5), never_met)
    assert again.summary.calibration == row.summary.calibration
