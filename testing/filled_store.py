"""What a database holds that has something at every address."""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from jobspec.adjustments import NewAdjustment
from jobspec.changes import Changes, Increment
from jobspec.feeds import NewFeed, read_settings
from jobspec.jobs.forecasting import ForecastParams, VolumesParams, WhatIfParams
from jobspec.ratings import NewRating
from jobspec.subscriptions import NewSubscription
from jobspec.thresholds import NewThreshold
from operations.forecasting.forecast import forecast
from operations.forecasting.seasonal_volumes import forecast_volumes
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from operations.verification.reforecast import reforecast
from operations.what_if.what_if import what_if
from records.access import keys
from records.access.keys import Key
from records.adjustments import adjustments
from records.alerts import alert_changes, deliveries, held_alerts, settle_alerts, subscriptions, thresholds
from records.alerts.alerts import LevelChance
from records.database.engine import Database
from records.jobs import attempts, jobs, schedules
from records.ratings import ratings
from records.runs import runs
from records.runs.runs import Run
from records.verification import comparisons
from records.versions import promotions, versions
from records.versions.versions import NewVersion
from records.weather import bridges, feeds
from records.weather import weather_issues as weather
from runtime.clock import Clock
from testing.bridges import LIVE, a_part
from testing.country import BASINS
from testing.records import a_weather_forecast, an_issue

FILLED_UNTIL = datetime(2005, 10, 1, tzinfo=UTC)
"""The country's record ends the day before."""
RECEIVER = "https://rivers.example/hook"


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


def work(file: Path) -> None:
    """Have the country's SQLite file hold a forecast run, an evaluation, a comparison and more."""
    database, clock = Database(f"sqlite:///{file}"), Clock(FILLED_UNTIL)
    (run,) = forecast(database, clock, ForecastParams(basins=list(BASINS)))
    held_out = Period.parse("2004-10-01..2005-09-30")
    evaluate(database, clock, run.version_id, held_out, BASINS)
    compare(database, clock, [run.version_id], held_out)
    forecast_volumes(database, clock, VolumesParams(basins=list(BASINS)))
    forecast(database, clock, ForecastParams(basins=list(BASINS), weather="dry", horizon=40))
    what_if(
        database, clock, WhatIfParams(basins=list(BASINS), changes=Changes(degrees=2.0, increment=Increment(mm=10)))
    )
    reforecast(database, clock, run.version_id, BASINS, held_out, every=30, horizon=2)
    database.close()


def fill(database_url: str, receiver: str = RECEIVER) -> FilledStore:
    """Add what operations do not create: jobs of every ending, a schedule, an admin's key, a receiver of changes."""
    database, now = Database(database_url), datetime.now(UTC)
    with database.transaction() as session:
        (run,) = runs.list_runs(session, purpose="operational")
        _promote_another_first(session, run.version_id, BASINS[-1], now)
        asked = runs.newest_changed(session, BASINS[0], FILLED_UNTIL)
        (compared,) = comparisons.list_comparisons(session)
        key, token = keys.make(session, "river office", "admin", None, now)
        posted = [
            jobs.create(session, jobs.NewJob(kind="forecast", params={}, queue="default", created_by=key.name), now)[0]
            for _ in range(3)
        ]
        cancelled, *others = posted
        attempts.request_cancel(session, cancelled.id, now)
        for job in others:
            claimed = attempts.claim(session, job.id, worker="w", lease_until=now + timedelta(minutes=1), at=now)
            assert claimed is not None
        done, failed = others
        attempts.finish(session, done.id, 1, status="succeeded", result={"left_out": {}}, at=now)
        problem = {"kind": "data", "detail": "There are none."}
        attempts.finish(session, failed.id, 1, status="failed", problem=problem, at=now)
        schedule = schedules.create(
            session,
            schedules.NewSchedule(
                name="daily forecast",
                kind="forecast",
                params={},
                cron="0 6 * * *",
                timezone="UTC",
                enabled=True,
                next_run_at=now,
            ),
            now,
        )
        issue = an_issue("2004-03-11")
        forecasts = [a_weather_forecast(issue, basin) for basin in BASINS]
        stored = weather.store(session, forecasts, now, operational=True)
        new = NewFeed(
            name="laid-down", settings=read_settings({"adapter": "files", "from": ["/srv"], "product": "own"})
        )
        feed = feeds.create(session, new, key.id, now)
        bridge = bridges.create(session, LIVE, [a_part(basin) for basin in BASINS], now)
        bankfull = NewThreshold(name="bankfull", discharge=4.5)
        rating = NewRating(table="stage_ft,discharge_cfs\n1,10\n11,8000\n", source="river office")
        for basin in BASINS:
            thresholds.put(session, basin, bankfull, now)
            ratings.put(session, basin, rating, FILLED_UNTIL)
        shown = subscriptions.create(session, NewSubscription(url=receiver), key.id, now)
        high = LevelChance(
            calibration="observed",
            level="bankfull",
            kind=None,
            return_period_years=None,
            direction="rising",
            discharge=4.5,
            chance=0.8,
        )
        settle_alerts.settle(session, BASINS[0], run, 10, [high], now=FILLED_UNTIL, wall=now)
        (delivery,) = deliveries.page(session)
        (change,) = alert_changes.page(session)
        sending = deliveries.claim(session, delivery.id, now)
        assert sending is not None
        deliveries.finish(session, delivery.id, sending.number, now, status_code=200, failure=None)
        adjustment = _publish_adjustment(session, run, key, now)
        held_alerts.hold(session, BASINS[1], run.id, [change], now, now + timedelta(hours=1))
    database.close()
    return FilledStore(
        version=run.version_id,
        run=run.id,
        t0=str(run.t0),
        what_if=asked.id,
        comparison=compared.id,
        ended=tuple(job.id for job in posted),
        schedule=schedule.id,
        feed=feed.name,
        bridge=bridge.name,
        threshold=bankfull.name,
        token=token,
        weather=stored.issue_id,
        subscription=shown.id,
        delivery=delivery.id,
        change=change.id,
        adjustment=adjustment,
    )


def _publish_adjustment(session: Session, run: Run, key: Key, at: datetime) -> str:
    """Have a forecaster adjust a run's forecast of the first basin, and return the adjustment's id."""
    new = NewAdjustment(run=run.id, factor=1.5, shift_days=1, chances={"bankfull": 0.4}, words="The gauge reads more.")
    drafted = adjustments.create(session, BASINS[0], new, key.name, key.id, now=FILLED_UNTIL, wall=at)
    adjustments.publish(session, drafted.id, key.name, "Agreed.", None, FILLED_UNTIL)
    adjustments.mark_decided(session, drafted.id, at)
    return drafted.id


def _promote_another_first(session: Session, version: str, basin: str, at: datetime) -> None:
    """Have a basin that uses a version look back on another, equal one."""
    fields = {part.name: getattr(versions.get(session, version), part.name) for part in dataclasses.fields(NewVersion)}
    members = versions.members_of(session, version)
    before = versions.create(session, NewVersion(**fields | {"label": "the season before"}), members)
    for promoted in (before.id, version):
        promotions.promote(session, promoted, [basin], reason="better", by="someone", at=at)
