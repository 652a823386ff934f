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
from jobspec.jobs.forecasting import ReplayParams
from operations.basin_data.dataset import load_discharge
from operations.daily.replay import replay
from operations.states.advance_states import ONE_DAY
from operations.verification import calibrate as calibrating
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


def test_a_season_of_past_forecasts_calibrates_the_next(lived: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
    with pytest.raises(DataProblem, match=rf"once 90 days T0 .* So far: 35 with {WEATHER}"):
        calibrate_forecasts(lived, SETTLED, version)
    (waiting,) = played(lived, Period.parse("2005-04-05..2005-04-05"))
    with lived.reading() as session:
        row = runs.basin_of(session, waiting.id, BASINS[0])
    assert f"once 90 days T0 with {WEATHER} have been observed: 35 have been forecast so far." in str(
        row.why_not_calibrated
    )

    monkeypatch.setattr(calibrating, "MIN_ISSUE_DAYS", 30)
    (done,) = calibrate_forecasts(lived, SETTLED, version)
    assert (done.weather, str(done.period)) == (WEATHER, "2005-02-27..2005-04-03")
    (next_run,) = played(lived, Period.parse("2005-04-06..2005-04-06"))
    with lived.reading() as session:
        row = runs.basin_of(session, next_run.id, BASINS[0])
        series = runs.series_of(session, next_run.id, BASINS[0])
    assert isinstance(row.summary.calibration, RunCalibration)
    assert (row.summary.calibration.weather, row.summary.calibration.sha256) == (WEATHER, done.sha256)
    flows = series[runs.CALIBRATED].values
    assert flows.shape == (len(LEVELS), 5)
    assert (np.diff(flows, axis=0) >= 0).all()


def test_without_an_error_model_of_the_simulation_it_asks_to_fit_that_first(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session).id
    with pytest.raises(DataProblem, match="has no error model: fit one"):
        calibrate_forecasts(trained_store, SETTLED, version)
