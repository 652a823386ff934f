"""Forecasts with weather forecasts are calibrated on past forecasts: what was issued, and what was then observed."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.recalibration import PRIOR_SPREAD, Recalibration
from hydrology.weather.forecast_errors import SOURCE
from jobspec.jobs.forecasting import ForecastParams, ReplayParams
from operations.basin_data.dataset import load_discharge
from operations.daily.replay import replay
from operations.forecasting.calibrated_flow import recalibration_of
from operations.forecasting.forecast import forecast
from operations.forecasting.weather_skill import ISSUES
from operations.states.advance_states import ONE_DAY
from operations.verification.calibrate import calibrate
from operations.verification.recalibrate import IssueDays, past_scores, recalibrate, settled
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs
from records.runs.run_summary import RunCalibration
from records.runs.run_weather import RunRecalibration
from records.runs.runs import RunRequest
from records.versions import error_models, versions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once

pytestmark = pytest.mark.extended

UNSEEN = Period.parse("2003-10-01..2005-02-26")
"""Days that nothing was fitted to before, and that end before the first T0."""
ISSUE_DAYS = Period.parse("2005-03-01..2005-04-04")
WEATHER = f"{SOURCE}/perturbed-synthetic"
NEXT = Period.parse("2005-04-05..2005-04-05")
WIDER = RunRecalibration(
    fitted_on="2005-02-27..2005-04-02", issue_days=35, reforecast_days=0, days=1, centre=[0.3, 0.2], spread=[1.1, 1.3]
)
SETTLED = Clock(datetime(2005, 5, 15, tzinfo=UTC))
"""30 days after the last issue day."""


def played(database: Database, days: Period) -> list[run_types.Run]:
    return replay(work_of(database, CLOCK), RunRequest(ReplayParams(period=days, horizon=5, traces=2))).runs


def scored(database: Database) -> tuple[IssueDays, list[Array]]:
    """Return the settled runs, and the scores of what came."""
    with database.reading() as session:
        version = versions.newest(session)
        (issue_days,) = settled(session, SETTLED, version.id)
        return issue_days, past_scores(session, version, issue_days)


def again(run: run_types.Run, horizon: int) -> ForecastParams:
    """Return the request for a run from the same day and weather forecast."""
    assert run.weather is not None
    return ForecastParams(t0=run.t0, horizon=horizon, weather="supplied", weather_id=run.weather.id)


@pytest.fixture(scope="session")
def lived_file(trained_file: Path) -> Path:
    """The country after five weeks of issue days, with an error model of its simulation."""

    def live(folder: Path) -> None:
        with closing(Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")) as database:
            with database.reading() as session:
                version = versions.newest(session).id
            calibrate(work_of(database, CLOCK), version, BASINS, UNSEEN)
            played(database, ISSUE_DAYS)

    return filled_once(trained_file.parent / "lived", live) / FILE


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


def test_scores_place_the_observed_flow_in_what_was_issued(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session)
        (issue_days,) = settled(session, SETTLED, version.id)
        scores = past_scores(session, version, issue_days)
        run = issue_days.runs[7]
        issued = runs.series_of(session, run.id, BASINS[1])[run_arrays.CALIBRATED].values
        observed = load_discharge(session, BASINS[1], ["synthetic"], Period(run.t0 + ONE_DAY, run.t0 + 5 * ONE_DAY))
    assert not isinstance(observed, Absent)
    assert [of_day.shape for of_day in scores] == [(len(BASINS), 5)] * 35
    shares = [float(np.interp(flow, of_day, LEVELS)) for flow, of_day in zip(observed, issued.T, strict=True)]
    after = scores[7][sorted(BASINS).index(BASINS[1])] / PRIOR_SPREAD
    np.testing.assert_allclose(ndtr(after), shares, atol=0.01)


def test_an_issued_forecast_replaces_the_reforecast_of_its_day(lived: Database) -> None:
    issued, before = scored(lived)
    forecast(work_of(lived, SETTLED), RunRequest(again(issued.runs[-1], horizon=4), purpose="reforecast"))
    both, after = scored(lived)
    assert (len(both.runs), both.days, both.reforecast_days) == (len(issued.runs) + 1, issued.days, 0)
    np.testing.assert_array_equal(after[-1], before[-1])


def test_the_first_forecast_has_a_provisional_distribution(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
        first, *_, last = sorted(runs.issued_runs(session, version, ISSUE_DAYS.last), key=lambda run: run.t0)
        of_first, of_last = (runs.basin_of(session, run.id, BASINS[0]).summary.calibration for run in (first, last))
        series = runs.series_of(session, first.id, BASINS[0])
    assert isinstance(of_first, RunCalibration)
    assert (of_first.kind, of_first.weather, of_first.weather_issues) == ("provisional", WEATHER, 0)
    assert first.weather is not None
    assert first.weather.recalibration == error_models.ASSUMED
    assert isinstance(of_last, RunCalibration)
    assert of_last.weather_issues == ISSUES  # later ones rest on the weather that came meanwhile
    flows, traces = series[run_arrays.CALIBRATED].values, series["discharge"].values
    assert (np.diff(flows, axis=0) >= 0).all()
    # What is stored of the members is the weather forecast's as it is, and much narrower.
    assert traces.shape[1] == 2
    of_90 = flows[LEVELS.index(0.95)] - flows[LEVELS.index(0.05)]
    assert (of_90 > np.ptp(traces.mean(axis=0), axis=0)).all()


def test_later_forecasts_are_recalibrated_by_what_came(lived: Database, lived_file: Path, tmp_path: Path) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
    (done,) = recalibrate(work_of(lived, SETTLED), version)
    assert (done.weather, done.fitted.fitted_on, done.fitted.issue_days) == (WEATHER, "2005-02-27..2005-04-02", 35)
    without = Database(f"sqlite:///{shutil.copy(lived_file, tmp_path / 'without.sqlite')}")
    (provisional, before), (fitted, after) = (_on_the_next_day(database) for database in (without, lived))
    without.close()
    assert (provisional.kind, fitted.kind) == ("provisional", "fitted")
    np.testing.assert_allclose(after, _again(done.fitted, before), rtol=0.02, atol=0.01)


def _again(fitted: RunRecalibration, assumed: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return quantiles recalibrated otherwise: with centres and spreads for those of the assumed ones."""
    of = recalibration_of(fitted)
    return Recalibration(of.centre / PRIOR_SPREAD, of.spread / PRIOR_SPREAD).apply(assumed.T.astype(float)).T


def _on_the_next_day(database: Database) -> tuple[RunCalibration, npt.NDArray[np.float32]]:
    """Return the calibration and the quantiles of a basin's next forecast."""
    (run,) = played(database, NEXT)
    with database.reading() as session:
        calibration = runs.basin_of(session, run.id, BASINS[0]).summary.calibration
        quantiles = runs.series_of(session, run.id, BASINS[0])[run_arrays.CALIBRATED].values
    assert isinstance(calibration, RunCalibration)
    return calibration, quantiles


def test_scores_are_those_before_the_recalibration(lived: Database, lived_file: Path, tmp_path: Path) -> None:
    with lived.transaction() as session:
        version = versions.newest(session)
        error_models.replace_recalibration(session, version.id, WEATHER, WIDER, SETTLED.wall())
    without = Database(f"sqlite:///{shutil.copy(lived_file, tmp_path / 'without.sqlite')}")
    of_next = []
    for database in (lived, without):
        played(database, NEXT)
        with database.reading() as session:
            (issue_days,) = settled(session, SETTLED, version.id)
            of_next.append(past_scores(session, version, issue_days)[-1])
    without.close()
    known = np.isfinite(of_next[0]) & np.isfinite(
        of_next[1]
    )  # a wider distribution may reach no flow, which has no score
    assert known.mean() > 0.8
    np.testing.assert_allclose(of_next[0][known], of_next[1][known], atol=0.05)


def test_forecasts_of_days_that_their_error_model_was_fitted_to_do_not_count(lived: Database) -> None:
    issued, before = scored(lived)
    calibrate(work_of(lived, CLOCK), issued.runs[0].version_id, BASINS, Period.parse("2003-10-01..2005-09-30"))
    forecast(work_of(lived, SETTLED), RunRequest(again(issued.runs[-1], horizon=5)))
    both, after = scored(lived)
    assert len(both.runs) == len(issued.runs) + 1
    for of_day, of_day_before in zip(after, before, strict=True):
        np.testing.assert_array_equal(of_day, of_day_before)


def test_too_few_issue_days_are_not_fitted(lived: Database) -> None:
    with lived.reading() as session:
        version = versions.newest(session).id
    early = Clock(datetime(2005, 4, 10, tzinfo=UTC))
    with pytest.raises(DataProblem, match=rf"once 10 days T0 .* So far: 8 with {WEATHER}"):
        recalibrate(work_of(lived, early), version)


def test_without_an_error_model_it_asks_to_fit_that_first(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session).id
    with pytest.raises(DataProblem, match="has no error model: fit one"):
        recalibrate(work_of(trained_store, SETTLED), version)
