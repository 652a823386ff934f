"""A replay issues what would have been issued then: it knows no later days, and its runs describe their weather."""

from datetime import UTC, datetime

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.weather.forecast_errors import CREDIT, SOURCE
from jobspec.jobs.forecasting import ForecastParams, ReplayParams
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast
from records.database.engine import Database
from records.forecasts.latest import latest
from records.runs import runs, states
from records.runs.runs import RunRequest
from records.series import series, series_writer
from records.weather import weather_issues
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import a_reason, a_source, contents, daily
from testing.work import work_of

ISSUE_DAYS = ReplayParams(period=Period.parse("2005-04-02..2005-04-04"), horizon=5, traces=3)


def test_each_issue_day_has_its_own_forecast_with_perturbed_weather(trained_store: Database) -> None:
    done = replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS))
    assert done.reasons == {}
    assert [(str(run.t0), run.issued_at.isoformat()) for run in done.runs] == [
        ("2005-03-31", "2005-04-02T14:00:00+00:00"),
        ("2005-04-01", "2005-04-03T14:00:00+00:00"),
        ("2005-04-02", "2005-04-04T14:00:00+00:00"),
    ]
    for run in done.runs:
        assert (run.status, run.purpose, run.forcing_kind) == ("issued", "operational", "supplied")
        assert run.weather is not None
        assert (run.weather.source, run.weather.model, run.weather.credit) == (SOURCE, "perturbed-synthetic", CREDIT)
    with trained_store.reading() as session:
        newest = latest(session, BASINS[0], datetime(2005, 4, 4, 15, tzinfo=UTC))
        truth = series.read_many(session, [BASINS[0]], "synthetic", ["tmax"], Period.parse("2005-04-03..2005-04-07"))
        supplied = weather_issues.read(
            session, str(newest.run.weather and newest.run.weather.id), BASINS[0], CLOCK.now()
        )
    assert newest.run.id == done.runs[-1].id
    assert supplied.traces == ("perturbed-00", "perturbed-01", "perturbed-02")
    assert (np.abs(supplied.values["tmax"] - truth[0, :, 0]) > 0).all()


def test_a_replay_again_stores_nothing(trained_store: Database) -> None:
    replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS))
    with trained_store.reading() as session:
        before = contents(session)
    assert replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS)).runs == []
    with trained_store.reading() as session:
        assert contents(session) == before


def test_the_states_of_a_replay_are_those_of_a_forecast_and_know_nothing_of_later_days(trained_store: Database) -> None:
    (*_, run) = replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS)).runs
    with trained_store.transaction() as session:
        rain = daily("2005-04-03", *[50.0] * 20)
        series_writer.write(session, BASINS[1], "synthetic", "precipitation", rain, a_source(session), CLOCK.now())
        states.invalidate(session, BASINS[1], "synthetic", day("2000-10-01"), a_reason("anew"), CLOCK.now())
    (hindcast,) = forecast(
        work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=[BASINS[1]], t0=run.t0, horizon=1))
    )
    with trained_store.reading() as session:
        hashes = [runs.basin_of(session, one.id, BASINS[1]).state_hash for one in (run, hindcast)]
    assert hashes[0] == hashes[1]


def test_where_the_archive_ends_the_weather_of_other_years_goes_on(trained_store: Database) -> None:
    last = ReplayParams(period=Period.parse("2005-09-28..2005-09-28"), horizon=5, traces=3)
    (run,) = replay(work_of(trained_store, CLOCK), RunRequest(last)).runs
    assert (run.forcing_kind, str(run.t0)) == ("climatology", "2005-09-26")


def test_a_basin_whose_record_ended_long_before_is_reported(trained_store: Database) -> None:
    late = ReplayParams(period=Period.parse("2005-10-20..2005-10-20"))
    done = replay(work_of(trained_store, CLOCK), RunRequest(late))
    assert (done.runs, set(done.reasons)) == ([], set(BASINS))
    assert "ends on 2005-09-30, more than 3 days ago" in str(done.reasons[BASINS[0]])


def test_a_issue_day_that_is_yet_to_come_is_refused(trained_store: Database) -> None:
    with pytest.raises(InvalidInput, match="The issue day 2005-04-04 is in the future"):
        replay(work_of(trained_store, Clock(datetime(2005, 4, 4, 13, tzinfo=UTC))), RunRequest(ISSUE_DAYS))
