"""A small service whose answers are the examples of the API: synthetic basins, filled by real operations."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hydrology.base.absent import absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from ingestion.sources.camels import CamelsSource
from jobspec.changes import Changes, Increment
from jobspec.jobs.forecasting import ForecastParams, VolumesParams, WhatIfParams
from operations.basin_data.ingest import ingest
from operations.daily import issue_record
from operations.forecasting.forecast import forecast, forecast_volumes
from operations.verification.calibrate import calibrate
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from operations.verification.reforecast import reforecast
from operations.verification.simulated_levels import compute
from operations.verification.verify_issued import verify
from operations.what_if import what_if
from records.alerts import alert_changes, deliveries, dispatch, held_alerts
from records.database.engine import Database
from records.feeds import feeds
from records.forecasts.issues import Settled
from records.jobs import attempts
from records.runs.run_types import Run
from records.runs.runs import RunRequest
from records.weather import bridges, weather_issues
from runtime.clock import Clock
from testing.bridges import LIVE, a_part, a_pooled_part
from testing.country import BASINS, configuration
from testing.records import a_weather_forecast, add_rival, an_issue
from testing.training import train
from testing.work import work_of
from tests.examples.machine import Machine

AS_OF = datetime(2005, 4, 21, 14, tzinfo=UTC)
RIVAL_ISSUED = datetime(2005, 3, 11, 14, tzinfo=UTC)
T0 = "2005-04-20"
HORIZON = 3
RECORD = Period.parse("1989-10-01..2005-09-30")
CALIBRATED_ON = Period.parse("2003-10-01..2004-09-30")
HELD_OUT = Period.parse("2004-10-01..2005-09-30")
BASIN = BASINS[2]
EXACT = {"precision": "float32"}
"""Training in half precision depends on the processor in more digits."""
LEVEL = "1-bankfull"
"""Sorts first, so that it is shown."""
_RATING = "stage_ft,discharge_cfs\n1.0,20\n4.0,400\n9.0,2500\n14.0,6000\n"
_CATEGORIES = {
    "flood": {
        "categories": {"action": {"stage": 9.0, "flow": -9999}, "minor": {"stage": 11.5, "flow": -9999}},
        "impacts": [{"stage": 11.5, "statement": "Water covers the mill road."}],
    }
}
Ask = Callable[..., Any]
"""Sends a request to the service, and returns its answer."""


def fill(database: Database, machine: Machine, ask: Ask, country: Path) -> dict[str, str]:
    """Store something at every address, and return the parameters of addresses.

    Args:
        ask: sends requests to the service that runs on the database.
        country: folder of the synthetic basins.
    """
    clock = Clock(AS_OF)
    version, other, comparison = _models(database, clock, machine, country)
    receiver = {"url": "https://rivers.example/hooks/freshet", "basins": [BASIN], "least_severity": "watch"}
    subscription = ask("POST", "/v1/subscriptions", receiver)["id"]
    ask("PUT", "/v1/basins/{basin}/thresholds/{threshold}", {"discharge": 4.5}, basin=BASIN, threshold=LEVEL)
    ask("PUT", "/v1/basins/{basin}/thresholds/{threshold}/confirmation", basin=BASIN, threshold=LEVEL)
    rating = {"table": _RATING, "source": "river office, rating 12", "datum": "NAVD88, 231.40 ft"}
    ask("PUT", "/v1/basins/{basin}/rating", rating, basin=BASIN)
    declared = {"document": _CATEGORIES, "source": "NOAA/NWS", "day": "2005-01-15"}
    ask("PUT", "/v1/basins/{basin}/flood-categories", declared, basin=BASIN)
    studied = {"regional_skew": -0.17, "regional_skew_error": 0.12, "trend_adjusted": True}
    ask("PUT", "/v1/basins/{basin}/flood-frequency", studied, basin=BASIN)
    machine.step()
    run = _forecasts(database, clock)
    _issue(database, clock, run)
    weather_id, bridge = _weather(database, clock)
    daily = {"name": "daily forecast", "job": {"kind": "forecast", "params": {"horizon": 10}}, "cron": "30 6 * * *"}
    return {
        "basin": BASIN,
        "version": version,
        "other_version": other,
        "comparison": comparison,
        "run": run.id,
        "issue": str(clock.today()),
        "weather": weather_id,
        "bridge": bridge,
        "subscription": subscription,
        "delivery": _failed_delivery(database, clock),
        "adjustment": _published_adjustment(ask, database, clock, run),
        "feed": _fetched_feed(ask, database, clock),
        "job": _finished_job(ask, database, clock, run),
        "schedule": ask("POST", "/v1/schedules", daily)["id"],
    }


def _models(database: Database, clock: Clock, machine: Machine, country: Path) -> tuple[str, str, str]:
    """Train two versions and score them; return the first, which is in use, the other, and their comparison."""
    ingest(work_of(database, clock), CamelsSource([country]))
    version = train(work_of(database, clock), configuration(**EXACT), BASINS, label="two members").version_id
    machine.step()
    other = train(
        work_of(database, clock), configuration(**EXACT, members=1, seed=7), BASINS, label="one member"
    ).version_id
    calibrate(work_of(database, clock), version, BASINS, CALIBRATED_ON)
    for scored in (version, other):
        evaluate(work_of(database, clock), scored, HELD_OUT, BASINS)
    compute(work_of(database, clock), version)
    reforecast(work_of(database, clock), version, BASINS, HELD_OUT, every=30, horizon=1)
    return version, other, compare(work_of(database, clock), [version, other], HELD_OUT).id


def _forecasts(database: Database, clock: Clock) -> Run:
    """Issue forecasts of each kind, and return the one that becomes the latest."""
    asked: dict[str, Any] = {"basins": list(BASINS), "t0": T0}
    ahead = asked | {"horizon": HORIZON}
    for earlier, at in (("2005-03-10", Clock(RIVAL_ISSUED)), ("2005-04-19", clock)):
        forecast(work_of(database, at), RunRequest(ForecastParams(**ahead | {"t0": earlier, "weather": "climatology"})))
    (run,) = forecast(work_of(database, clock), RunRequest(ForecastParams(**ahead, age=True, perturbed_states=4)))
    with database.transaction() as session:
        add_rival(session, BASINS, f"{RIVAL_ISSUED:%Y-%m-%d}", clock.wall())
    verify(work_of(database, clock), run.version_id)
    forecast(work_of(database, clock), RunRequest(ForecastParams(**ahead, weather="dry")))
    changes = Changes(degrees=2.0, increment=Increment(mm=10))
    what_if(
        work_of(database, clock), RunRequest(WhatIfParams(**ahead, changes=changes, note="a warm spell on more snow"))
    )
    forecast_volumes(
        work_of(database, clock), RunRequest(VolumesParams.model_validate(asked | {"season": "04-01..07-31"}))
    )
    return run


def _issue(database: Database, clock: Clock, run: Run) -> None:
    """Record the issue of today, which lacks a basin."""
    missing = Settled("failed", None, absent(Reason.FAILED, message="its feed does not answer."))
    issue_record.start(work := work_of(database, clock), None)
    issue_record.settle(work, [(basin, Settled("issued", run.id)) for basin in BASINS if basin != BASIN])
    issue_record.settle(work, [(BASIN, missing)], closes=True)


def _weather(database: Database, clock: Clock) -> tuple[str, str]:
    """Store a weather forecast and a bridge, and return the id of one and the name of the other."""
    with database.transaction() as session:
        issue = an_issue(T0)
        stored = weather_issues.store(
            session, [a_weather_forecast(issue, basin) for basin in BASINS], clock.wall(), operational=True
        )
        bridge = bridges.create(session, LIVE, [a_part(BASIN), a_pooled_part(BASINS[0])], clock.wall())
    return stored.issue_id, bridge.name


def _failed_delivery(database: Database, clock: Clock) -> str:
    with database.transaction() as session:
        (delivery, *_) = deliveries.page(session)
        sending = dispatch.claim(session, delivery.id, clock.wall())
        assert sending is not None
        failure = absent(Reason.RECEIVER_REFUSED, status=503)
        dispatch.finish(session, delivery.id, sending.number, clock.wall(), status_code=503, failure=failure)
    return delivery.id


def _published_adjustment(ask: Ask, database: Database, clock: Clock, run: Run) -> str:
    """Adjust and publish the forecast, and have a change of an alert wait for approval."""
    path = "/v1/basins/{basin}/adjustments"
    body = {"run": run.id, "factor": 1.2, "shift_days": 1, "chances": {LEVEL: 0.6}}
    drafted = ask("POST", path, body | {"words": "The reservoir upstream holds the first day back."}, basin=BASIN)
    publish = "/v1/adjustments/{adjustment}/publish"
    ask("POST", publish, {"note": "Agreed with the dam's operator."}, adjustment=drafted["id"])
    with database.transaction() as session:
        (change, *_) = alert_changes.page(session, basins=[BASIN])
        for basin in (BASIN, BASINS[0]):
            held_alerts.hold(session, basin, run.id, [change], clock.wall(), clock.wall() + timedelta(hours=1))
    ruling = {"run": run.id, "ruling": "dismiss", "note": "The sensor is broken."}
    ask("POST", "/v1/basins/{basin}/alerts/held", ruling, basin=BASINS[0])
    identifier: str = drafted["id"]
    return identifier


def _fetched_feed(ask: Ask, database: Database, clock: Clock) -> str:
    name: str = ask("POST", "/v1/feeds", {"name": "usgs-flow", "settings": {"adapter": "usgs"}})["name"]
    now = clock.now()
    hole = feeds.Hole(first="2005-03-03", last="2005-03-04", variables=["discharge"])
    fetched = feeds.FetchedBasin(basin_id=BASIN, status="new", new_days=1, tried_at=now, fetched_at=now, holes=[hole])
    with database.transaction() as session:
        feed = feeds.get(session, name)
        feeds.note_basins(session, feed, [fetched])
        feeds.note_fetch(session, feed, now, None)
    return name


def _finished_job(ask: Ask, database: Database, clock: Clock, run: Run) -> str:
    job: str = ask("POST", "/v1/jobs", {"kind": "forecast", "params": {"basins": list(BASINS), "t0": T0}})["id"]
    with database.transaction() as session:
        at = clock.wall()
        claimed = attempts.claim(session, job, worker="w", lease_until=at + timedelta(minutes=1), at=at)
        assert claimed is not None
        progress = {"done": len(BASINS), "total": len(BASINS), "detail": ""}
        attempts.heartbeat(session, job, 1, lease_until=at + timedelta(minutes=1), progress=progress, at=at)
        result = {"runs": [{"run": run.id, "status": run.status, "t0": T0}]}
        attempts.finish(session, job, 1, status="succeeded", result=result, at=at)
    return job
