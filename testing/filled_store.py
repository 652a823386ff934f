"""What a database holds that has something at every address."""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from jobspec.changes import Changes, Increment, NewAdjustment
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.jobs.forecasting import ForecastParams, VolumesParams, WhatIfParams
from jobspec.levels import NewRating, NewThreshold
from jobspec.subscriptions import NewSubscription
from operations.daily import issue_record
from operations.forecasting.forecast import forecast, forecast_volumes
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from operations.verification.reforecast import reforecast
from operations.what_if import what_if
from records.access import keys
from records.access.keys import Key
from records.alerts import alert_changes, deliveries, dispatch, held_alerts, settle_alerts, subscriptions
from records.alerts.alerts import LevelChance
from records.basins import ratings
from records.basins.regions import Region
from records.database.engine import Database
from records.database.stored import as_values, upsert
from records.feeds import feeds
from records.forecasts import adjustments
from records.forecasts.issues import Settled
from records.jobs import attempts, jobs, schedules
from records.levels import basin_levels
from records.outlooks import outlooks
from records.runs import runs
from records.runs.run_types import Run
from records.runs.runs import RunRequest
from records.verification import comparisons
from records.versions import promotions, versions
from records.versions.versions import NewVersion
from records.weather import bridges, weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.bridges import LIVE, a_part
from testing.country import BASINS
from testing.records import a_weather_forecast, add_rival, an_issue
from testing.work import work_of

FILLED_UNTIL = datetime(2005, 10, 1, tzinfo=UTC)
"""The country's record ends the day before."""
RECEIVER = "https://rivers.example/hook"
BANKFULL, BANKFULL_DISCHARGE = "bankfull", 4.5  # m3/s
LOGGED = "Forecast 3 basins."
"""In the log of the job that has succeeded."""


@dataclass(frozen=True, slots=True)
class FilledStore:
    """What a filled database holds, by the names that the API gives it."""

    version: str
    run: str
    t0: str
    what_if: str
    comparison: str
    ended: tuple[str, ...]
    schedule: str
    feed: str
    bridge: str
    threshold: str
    token: str
    weather: str
    subscription: str
    delivery: str
    change: str
    adjustment: str
    rival: str
    region: str


def work(file: Path) -> None:
    """Have the country's SQLite file hold a forecast run, an evaluation, a comparison and more."""
    database, clock = Database(f"sqlite:///{file}"), Clock(FILLED_UNTIL)
    issue_record.start(work_of(database, clock), None)
    (run,) = forecast(work_of(database, clock), RunRequest(ForecastParams(basins=list(BASINS))))
    issue_record.settle(work_of(database, clock), [(basin, Settled("issued", run.id)) for basin in BASINS[1:]])
    held_out = Period.parse("2004-10-01..2005-09-30")
    evaluate(work_of(database, clock), run.version_id, held_out, BASINS)
    compare(work_of(database, clock), [run.version_id], held_out)
    forecast_volumes(work_of(database, clock), RunRequest(VolumesParams(basins=list(BASINS))))
    forecast(work_of(database, clock), RunRequest(ForecastParams(basins=list(BASINS), weather="dry", horizon=40)))
    what_if(
        work_of(database, clock),
        RunRequest(WhatIfParams(basins=list(BASINS), changes=Changes(degrees=2.0, increment=Increment(mm=10)))),
    )
    reforecast(work_of(database, clock), run.version_id, BASINS, held_out, every=30, horizon=2)
    database.close()


def fill(database_url: str, receiver: str = RECEIVER) -> FilledStore:
    """Add what operations do not create: jobs of every ending, a schedule, an admin's key, a receiver of changes."""
    database, now = Database(database_url), datetime.now(UTC)
    with database.transaction() as session:
        (run,) = runs.list_runs(session, purpose="operational")
        asked = runs.newest_changed(session, BASINS[0], FILLED_UNTIL)
        (compared,) = comparisons.list_comparisons(session)
        key, token = keys.make(session, "river office", "admin", None, now)
        _promote_another_first(session, run.version_id, BASINS[-1], now)
        _add_ratings(session)
        _add_thresholds(session, now)
        shown = subscriptions.create(session, NewSubscription(url=receiver), key.id, now, Settings())
        delivery, change = _deliver_change(session, run, now)
        held_alerts.hold(session, BASINS[1], run.id, [change], now, now + timedelta(hours=1))
        filled = FilledStore(
            version=run.version_id,
            run=run.id,
            t0=str(run.t0),
            what_if=asked.id,
            comparison=compared.id,
            ended=_end_jobs(session, key, now),
            schedule=_schedule(session, now),
            feed=_add_feed(session, key, now),
            bridge=bridges.create(session, LIVE, [a_part(basin) for basin in BASINS], now).name,
            threshold=BANKFULL,
            token=token,
            weather=_store_weather_forecast(session, now),
            subscription=shown.id,
            delivery=delivery.id,
            change=change.id,
            adjustment=_publish_adjustment(session, run, key, now),
            rival=add_rival(session, BASINS, "2005-09-21", now),
            region=_add_region(session),
        )
    database.close()
    return filled


def _end_jobs(session: Session, key: Key, at: datetime) -> tuple[str, ...]:
    """Have a job cancelled, another succeed and a third fail, and return their ids."""
    new = jobs.NewJob(kind="forecast", params={}, queue="default", created_by=key.name)
    cancelled, done, failed = (jobs.create(session, new, at)[0].id for _ in range(3))
    attempts.request_cancel(session, cancelled, at)
    for job in (done, failed):
        claimed = attempts.claim(session, job, worker="w", lease_until=at + timedelta(minutes=1), at=at)
        assert claimed is not None
    jobs.log(session, done, 1, LOGGED, at)
    attempts.finish(session, done, 1, status="succeeded", result={"left_out": {}}, at=at)
    problem = {"kind": "data", "detail": "There are none."}
    attempts.finish(session, failed, 1, status="failed", problem=problem, at=at)
    return cancelled, done, failed


def _schedule(session: Session, at: datetime) -> str:
    daily = schedules.NewSchedule(
        name="daily forecast",
        kind="forecast",
        params={},
        cron="0 6 * * *",
        timezone="UTC",
        enabled=True,
        next_run_at=at,
    )
    return schedules.create(session, daily, at).id


def _add_feed(session: Session, key: Key, at: datetime) -> str:
    settings = read_settings({"adapter": "files", "from": ["/srv"], "product": "own"})
    return feeds.create(session, NewFeed(name="laid-down", settings=settings), key.id, at).name


def _add_region(session: Session) -> str:
    region = Region(id="country", basins=list(BASINS))
    upsert(session, Region, [as_values(region)])
    return region.id


def _store_weather_forecast(session: Session, at: datetime) -> str:
    issue = an_issue("2004-03-11")
    forecasts = [a_weather_forecast(issue, basin) for basin in BASINS]
    return weather_issues.store(session, forecasts, at, operational=True).issue_id


def _add_thresholds(session: Session, at: datetime) -> None:
    for basin in BASINS:
        basin_levels.put(session, basin, NewThreshold(name=BANKFULL, discharge=BANKFULL_DISCHARGE), at)
        outlooks.renew(session, basin)


def _add_ratings(session: Session) -> None:
    rating = NewRating(table="stage_ft,discharge_cfs\n1,10\n11,8000\n", source="river office")
    for basin in BASINS:
        ratings.put(session, basin, rating, FILLED_UNTIL)


def _deliver_change(session: Session, run: Run, at: datetime) -> tuple[deliveries.Delivery, alert_changes.Change]:
    """Have a forecast raise an alert, and the receiver take the message about it."""
    high = LevelChance(
        calibration="observed",
        level=BANKFULL,
        kind=None,
        return_period_years=None,
        direction="rising",
        discharge=BANKFULL_DISCHARGE,
        chance=0.8,
    )
    settle_alerts.settle(session, BASINS[0], run, 10, [high], settle_alerts.DecisionTime(FILLED_UNTIL, at))
    (delivery,), (change,) = deliveries.page(session), alert_changes.page(session)
    sending = dispatch.claim(session, delivery.id, at)
    assert sending is not None
    dispatch.finish(session, delivery.id, sending.number, at, status_code=200, failure=None)
    return delivery, change


def _publish_adjustment(session: Session, run: Run, key: Key, at: datetime) -> str:
    """Have a forecaster adjust a run's forecast of the first basin, and return the adjustment's id."""
    new = NewAdjustment(run=run.id, factor=1.5, shift_days=1, chances={BANKFULL: 0.4}, words="The gauge reads more.")
    drafted = adjustments.create(session, BASINS[0], new, key.name, key.id, now=FILLED_UNTIL, wall=at)
    adjustments.publish(session, drafted.id, key.name, "Agreed.", None, FILLED_UNTIL)
    outlooks.renew_run(session, run.id, BASINS[0])
    adjustments.mark_decided(session, drafted.id, at)
    return drafted.id


def _promote_another_first(session: Session, version: str, basin: str, at: datetime) -> None:
    """Have a basin that uses a version look back on another, equal one."""
    fields = {part.name: getattr(versions.get(session, version), part.name) for part in dataclasses.fields(NewVersion)}
    members = versions.members_of(session, version)
    before = versions.create(session, NewVersion(**fields | {"label": "the season before"}), members)
    for promoted in (before.id, version):
        promotions.promote(session, promoted, [basin], reason="better", by="someone", at=at)
