"""Forecasts with weather forecasts are calibrated on past forecasts: what was issued, and what was then observed."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_model import LEVELS
from hydrology.weather.perturbed_forecasts import SOURCE
from jobspec.jobs.forecasting import ForecastParams, ReplayParams
from operations.basin_data.dataset import load_discharge
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast
from operations.forecasting.weather_skill import ISSUES
from operations.states.advance_states import ONE_DAY
from operations.verification.calibrate import calibrate, calibrate_forecasts
from operations.verification.issued_pairs import past_forecasts, settled
from records.database.engine import Database
from records.runs import runs
from records.runs.run_summary import RunCalibration
from records.versions import error_models, versions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK

UNSEEN = Period.parse("2003-10-01..2005-09-30")
ISSUE_DAYS = Period.parse("2005-03-01..2005-04-04")
WEATHER = f"{SOURCE}/perturbed-synthetic"
SETTLED = Clock(datetime(2005, 5, 15, tzinfo=UTC))
"""30 days after the last issue day."""


def played(database: Database, days: Period) -> list[runs.Run]:
    return replay(database, CLOCK, ReplayParams(period=days, horizon=5, traces=2)).runs


@pytest.fixture(scope="module")
def lived_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The country after five weeks of issue days, with an error model of its simulation."""
    file = Path(shutil.copy(trained_file, tmp_path_factory.mktemp("lived") / "freshet.sqlite"))
    database = Database(f"sqlite:///{file}")
    with database.reading() as session:
        version = versions.newest(session).id
    calibrate(database, CLOCK, version, BASINS, UNSEEN)
    played(database, ISSUE_DAYS)
    database.close()
    return file


@pytest.fixture
def lived(lived_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of it."""
    database = Database(f"sqlite:///{shutil.copy(lived_file, tmp_path / 'lived.sqlite')}")
    yield database
    database.close()


def test_only_what_has_settled_counts(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session)
        (all_of_them,) = settled(session, SETTLED, version.id)
        earlier = settled(session, Clock(datetime(2005, 4, 15, tzinfo=UTC)), version.id)
        too_early = settled(session, Clock(datetime(2005, 4, 1, tzinfo=UTC)), version.id)
    assert all_of_them.weather == WEATHER
    assert len(all_of_them.days) == len(ISSUE_DAYS)
    (part,) = earlier
    assert part.days[-1] == day("2005-03-11")  # its fifth day is 30 days old
    assert too_early == []


def test_pairs_hold_issued_and_observed_flow(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session)
        (issue_days,) = settled(session, SETTLED, version.id)
        model = error_models.get(session, version.id, BASINS)
        assert model is not None
        pairs = past_forecasts(session, version, issue_days, model.basins)
        run = issue_days.runs[7]
        issued = runs.series_of(session, run.id, BASINS[1])["discharge"].values
        observed = load_discharge(session, BASINS[1], ["synthetic"], Period(run.t0 + ONE_DAY, run.t0 + 5 * ONE_DAY))
    assert not isinstance(observed, Absent)
    assert sorted(pairs) == sorted(BASINS)
    np.testing.assert_allclose(pairs[BASINS[1]].forecast[7], issued.mean(axis=(0, 1)), rtol=1e-5)
    np.testing.assert_allclose(pairs[BASINS[1]].observed[7], observed, rtol=1e-6)
    assert np.isfinite(pairs[BASINS[1]].last_error).all()


def test_an_issued_forecast_replaces_the_reforecast_of_its_day(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session)
        (issued,) = settled(session, SETTLED, version.id)
        last = issued.runs[-1]
        model = error_models.get(session, version.id, BASINS)
        assert model is not None
        before = past_forecasts(session, version, issued, model.basins)
    assert last.weather is not None
    params = ForecastParams(t0=last.t0, horizon=4, weather="supplied", weather_id=last.weather.id)
    forecast(lived, SETTLED, params, purpose="reforecast")
    with lived.reading() as session:
        (both,) = settled(session, SETTLED, version.id)
        after = past_forecasts(session, version, both, model.basins)
    assert (len(both.runs), both.days, both.reforecast_days) == (len(issued.runs) + 1, issued.days, 0)
    np.testing.assert_array_equal(after[BASINS[0]].forecast, before[BASINS[0]].forecast[:, :4])


def test_the_first_forecast_has_a_provisional_distribution(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
        first, *_, last = sorted(runs.operational(session, version, ISSUE_DAYS.last), key=lambda run: run.t0)
        of_first, of_last = (runs.basin_of(session, run.id, BASINS[0]).summary.calibration for run in (first, last))
        series = runs.series_of(session, first.id, BASINS[0])
    assert isinstance(of_first, RunCalibration)
    assert (of_first.kind, of_first.weather, of_first.weather_issues) == ("provisional", WEATHER, 0)
    assert of_first.forecasts is None
    assert isinstance(of_last, RunCalibration)
    assert of_last.weather_issues == ISSUES  # later ones rest on the weather that came meanwhile
    flows, traces = series[runs.CALIBRATED].values, series["discharge"].values
    assert (np.diff(flows, axis=0) >= 0).all()
    # What is stored of the members is the weather forecast's as it is, and much narrower.
    assert traces.shape[1] == 2
    of_90 = flows[LEVELS.index(0.95)] - flows[LEVELS.index(0.05)]
    assert (of_90 > np.ptp(traces.mean(axis=0), axis=0)).all()


def test_the_errors_of_issued_forecasts_count_by_their_number(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
    (done,) = calibrate_forecasts(lived, SETTLED, version)
    assert (done.weather, str(done.period)) == (WEATHER, "2005-02-27..2005-04-02")
    (after,) = played(lived, Period.parse("2005-04-05..2005-04-05"))
    with lived.reading() as session:
        fitted = runs.basin_of(session, after.id, BASINS[0]).summary.calibration
        now = runs.series_of(session, after.id, BASINS[0])[runs.CALIBRATED].values
    assert isinstance(fitted, RunCalibration)
    assert fitted.forecasts is not None
    assert (fitted.kind, fitted.forecasts.sha256, fitted.forecasts.issue_days) == ("fitted", done.sha256, 35)
    assert fitted.forecasts.weight == 35 / 125
    assert (np.diff(now, axis=0) >= 0).all()


def test_too_few_issue_days_are_not_fitted(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
    early = Clock(datetime(2005, 4, 10, tzinfo=UTC))
    with pytest.raises(DataProblem, match=rf"once 10 days T0 .* So far: 8 with {WEATHER}"):
        calibrate_forecasts(lived, early, version)


def test_without_an_error_model_of_the_simulation_it_asks_to_fit_that_first(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session).id
    with pytest.raises(DataProblem, match="has no error model: fit one"):
        calibrate_forecasts(trained_store, SETTLED, version)
