"""Alerts are decided by the latest calibrated forecast, and by no other."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hydrology.alerts import WINDOW_DAYS
from hydrology.base.calendar import Period, as_date, day
from hydrology.base.series import DailySeries, Flag
from hydrology.base.units import Area, mm_per_day_to_m3s
from jobspec.jobs.forecasting import ForecastParams, ReplayParams
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import decide
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast
from operations.verification.calibrate import calibrate
from records.alerts import alert_changes, alerts
from records.database.engine import Database
from records.levels import basin_levels, categories_and_doubts
from records.runs import run_types, runs
from records.runs.runs import RunRequest
from records.schema import Base
from records.series import revisions, series_writer
from records.versions import versions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import contents
from testing.work import work_of

UNSEEN = Period.parse("2003-10-01..2005-09-30")
T0 = day("2005-04-01")
BASIN = BASINS[0]
SURE = NewThreshold(name="trickle", discharge=0.0001, direction="rising")
HOPELESS = NewThreshold(name="deluge", discharge=90_000.0, direction="rising")


def issue_day(days: int = 0) -> Clock:
    """Return a clock on the day after T0, or some days later."""
    return Clock(datetime.combine(as_date(T0 + days), datetime.min.time(), UTC) + timedelta(days=1, hours=14))


def issue(database: Database, days: int = 0, **chosen: object) -> run_types.Run:
    params = ForecastParams.model_validate({"basins": [BASIN], "t0": str(T0 + days), "horizon": 12} | chosen)
    (run,) = forecast(work_of(database, issue_day(days)), RunRequest(params))
    return run


def read(database: Database) -> dict[str, alerts.Alert]:
    with database.reading() as session:
        return {alert.level: alert for alert in alerts.of_basin(session, BASIN)}


@pytest.fixture
def levelled(trained_store: Database) -> Database:
    """The country with an error model, and two levels that somebody set."""
    with trained_store.transaction() as session:
        calibrate_for = versions.newest(session).id
        for level in (SURE, HOPELESS):
            basin_levels.put(session, BASIN, level, CLOCK.now())
        categories_and_doubts.confirm(session, BASIN, [SURE.name, HOPELESS.name])
    calibrate(work_of(trained_store, CLOCK), calibrate_for, BASINS, UNSEEN)
    return trained_store


def test_a_forecast_decides_by_the_exceedance_probability_within_the_window(levelled: Database) -> None:
    run = issue(levelled)
    with levelled.reading() as session:
        flow, basin = (
            runs.calibrated_flow(runs.series_of(session, run.id, BASIN)),
            runs.basin_of(session, run.id, BASIN),
        )
    assert flow is not None
    assert basin.area_m2 is not None
    area = Area(str(basin.area_name), basin.area_m2)
    middle = float(sorted(flow.paths[:, :WINDOW_DAYS].max(axis=1))[len(flow.paths) // 2])
    level = NewThreshold(name="middle", discharge=float(mm_per_day_to_m3s(middle, area=area)), direction="rising")
    with levelled.transaction() as session:
        basin_levels.put(session, BASIN, level, CLOCK.now())
        categories_and_doubts.confirm(session, BASIN, [level.name])
    again = issue(levelled)
    stood = read(levelled)
    expected = float((flow.paths[:, :WINDOW_DAYS] > middle).any(axis=1).mean())
    assert stood["middle"].chance == pytest.approx(expected, abs=0.02)
    assert stood["middle"].run_id == again.id
    assert (stood["trickle"].severity, stood["deluge"].severity) == ("warning", None)
    assert stood["trickle"].chance > 0.95


def test_a_river_that_dries_up_every_year_has_no_alert_of_falling_below_nothing(levelled: Database) -> None:
    dry, wet = 30, 335
    flow = np.tile(np.repeat([0.0, 5.0], [dry, wet]), 12)
    flags = np.full(flow.size, Flag.APPROVED, np.uint8)
    past = DailySeries(day("1990-01-01"), flow.astype(np.float32), flags, "cfs")
    with levelled.transaction() as session:
        source = revisions.register_source(session, "test", "0" * 64, 1, CLOCK.wall())
        series_writer.write(session, BASIN, "synth", "discharge", past, source, CLOCK.now())
        levels = {level.name: level.discharge for level in basin_levels.levels_of(session, BASIN)}
    assert levels["7q10"] == 0
    issue(levelled)
    stood = read(levelled)
    assert stood.keys() >= {"trickle", "deluge", "gev-2"}
    assert stood.keys().isdisjoint({"7q2", "7q10"})


def test_deciding_again_changes_nothing(levelled: Database) -> None:
    issue(levelled)
    with levelled.reading() as session:
        before = contents(session)
    assert decide(work_of(levelled, issue_day()), BASINS) == []
    with levelled.reading() as session:
        assert contents(session) == before


def test_the_next_cycle_decides_what_an_interrupted_one_left(levelled: Database) -> None:
    params = ForecastParams(basins=[BASIN], t0=T0, horizon=5)
    forecast(work_of(levelled, issue_day()), RunRequest(params, purpose="on-request"))
    assert read(levelled) == {}
    issue(levelled)
    with levelled.transaction() as session:
        for table in ("alert_changes", "alerts", "alert_basins"):
            session.execute(Base.metadata.tables[table].delete())
    (change,) = decide(work_of(levelled, issue_day()), BASINS)
    assert (change.kind, change.level) == ("begins", "trickle")


def test_a_forecast_of_long_ago_decides_nothing(levelled: Database) -> None:
    forecast(work_of(levelled, CLOCK), RunRequest(ForecastParams(basins=[BASIN], t0=T0, horizon=5)))
    assert read(levelled) == {}


def test_an_older_forecast_does_not_take_the_place_of_a_newer_one(levelled: Database) -> None:
    newer = issue(levelled, days=1)
    forecast(work_of(levelled, issue_day(1)), RunRequest(ForecastParams(basins=[BASIN], t0=T0, horizon=5)))
    assert {alert.run_id for alert in read(levelled).values()} == {newer.id}


def test_the_first_forecast_with_a_weather_forecast_decides_and_names_its_basis(levelled: Database) -> None:
    replay(
        work_of(levelled, CLOCK),
        RunRequest(ReplayParams(period=Period.parse("2005-04-04..2005-04-04"), horizon=5, traces=2)),
    )
    with levelled.reading() as session:
        standing = alerts.standing(session, BASIN)
    assert standing is not None
    assert standing.reason is None
    assert {alert.calibration for alert in read(levelled).values()} == {"provisional"}


def test_an_uncalibrated_forecast_decides_nothing_and_gives_the_reason(levelled: Database) -> None:
    started = issue(levelled)
    with levelled.transaction() as session:
        for table in ("basin_errors", "error_models"):
            session.execute(Base.metadata.tables[table].delete())
    done = replay(
        work_of(levelled, CLOCK),
        RunRequest(ReplayParams(period=Period.parse("2005-04-04..2005-04-05"), horizon=5, traces=2)),
    )
    assert [(one.kind, one.severity, one.replayed) for one in done.changes] == [("undecided", "warning", True)]
    with levelled.reading() as session:
        standing = alerts.standing(session, BASIN)
    assert standing is not None
    assert standing.run_id == done.runs[-1].id
    assert "has no error model" in str(standing.reason)
    assert {alert.run_id for alert in read(levelled).values()} == {started.id}


def test_a_replay_on_request_decides_nothing(levelled: Database) -> None:
    period = ReplayParams(period=Period.parse("2005-04-04..2005-04-05"), horizon=5, traces=2)
    assert replay(work_of(levelled, CLOCK), RunRequest(period, purpose="on-request")).changes == []
    with levelled.reading() as session:
        assert alert_changes.page(session) == []
        assert alerts.standing(session, BASIN) is None


def test_a_missing_newer_forecast_is_reported_once_and_the_alerts_stay(levelled: Database) -> None:
    run = issue(levelled)
    assert decide(work_of(levelled, issue_day(2)), BASINS) == []
    (lapsed,) = decide(work_of(levelled, issue_day(3)), BASINS)
    assert (lapsed.kind, lapsed.run_id, lapsed.severity) == ("undecided", run.id, "warning")
    assert "The newest forecast is from 2005-04-01, 4 days ago." in lapsed.why
    assert decide(work_of(levelled, issue_day(4)), BASINS) == []
    assert read(levelled)["trickle"].severity == "warning"
    issue(levelled, days=5)
    with levelled.reading() as session:
        newest, *_ = alert_changes.page(session)
    assert (newest.kind, newest.severity) == ("decided", "warning")
