"""The API as a process of its own, over the small country with its version, a run, scores and jobs that have ended."""

import dataclasses
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy.orm import Session

from hydrology.calendar import Period
from jobspec.changes import Changes, Increment
from jobspec.feeds import NewFeed, read_settings
from jobspec.kinds import ForecastParams, VolumesParams, WhatIfParams
from jobspec.subscriptions import NewSubscription
from jobspec.thresholds import NewThreshold
from operations.compare import compare
from operations.evaluate import evaluate
from operations.forecast import forecast
from operations.reforecast import reforecast
from operations.volumes import forecast_volumes
from operations.whatif import what_if
from records import (
    alerts,
    bridges,
    comparisons,
    deliveries,
    feeds,
    jobs,
    keys,
    promotions,
    runs,
    schedules,
    subscriptions,
    thresholds,
    versions,
    weather,
)
from records.alerts import LevelChance
from records.clock import Clock
from records.engine import Database
from records.versions import NewVersion
from tests.operations.conftest import BASINS, country, trained_file
from tests.records.factories import a_weather_forecast, an_issue
from tests.records.test_bridges import LIVE, a_part
from tests.workers.conftest import copy_rows

__all__ = ["country", "trained_file"]

PATIENCE = 60.0  # seconds
NO_BROKER = "redis://127.0.0.1:1/0"
"""Nobody listens there: jobs stay queued."""
KEPT_UNTIL = datetime(2005, 10, 1, tzinfo=UTC)
"""The country's record ends the day before."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a filled database holds, by the names that the API gives it."""

    version: str
    run: str
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


@dataclass(frozen=True, slots=True)
class Api:
    """A running API: its address, its process, what it holds."""

    address: str
    process: int
    kept: Kept


@pytest.fixture(scope="session")
def worked_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The country's SQLite file with a forecast run, an evaluation and a comparison, to be copied."""
    file = Path(shutil.copy(trained_file, tmp_path_factory.mktemp("worked") / "freshet.sqlite"))
    database, clock = Database(f"sqlite:///{file}"), Clock(KEPT_UNTIL)
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
    return file


@pytest.fixture
def api(database_url: str, worked_file: Path, tmp_path: Path) -> Iterator[Api]:
    """The API on either database."""
    if database_url.startswith("sqlite"):
        shutil.copy(worked_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_rows(worked_file, database_url)
    with _started(database_url, tmp_path) as running:
        yield running


@pytest.fixture
def sqlite_api(worked_file: Path, tmp_path: Path) -> Iterator[Api]:
    """The API on SQLite, for what does not depend on the database."""
    file = shutil.copy(worked_file, tmp_path / "freshet.sqlite")
    with _started(f"sqlite:///{file}", tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def reading_api(worked_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The API on SQLite for tests that only read, started once."""
    folder = tmp_path_factory.mktemp("reading")
    file = shutil.copy(worked_file, folder / "freshet.sqlite")
    with _started(f"sqlite:///{file}", folder) as running:
        yield running


@contextmanager
def _started(database_url: str, folder: Path) -> Iterator[Api]:
    kept = _fill(database_url)
    with served(database_url, folder) as (address, process):
        yield Api(address, process, kept)


@contextmanager
def served(database_url: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Serve a database; give the API's address and process."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {
        "FRESHET_DATA": str(folder / "data"),
        "FRESHET_DATABASE_URL": database_url,
        "FRESHET_BROKER_URL": NO_BROKER,
        "FRESHET_AS_OF": KEPT_UNTIL.isoformat(),
        "FRESHET_LOG_LEVEL": "error",
        "FRESHET_REQUESTS_PER_MINUTE": "1000000",
        "FRESHET_WRITES_PER_MINUTE": "1000000",
        "FRESHET_FAILED_KEYS_PER_MINUTE": "1000000",
    }
    command = [sys.executable, "-m", "freshet", "api", "--port", str(port)]
    with (folder / "api.log").open("wb") as log, subprocess.Popen(command, env=environment, stderr=log) as process:
        try:
            await_ready(address, process, folder / "api.log")
            yield address, process.pid
        finally:
            process.kill()


def _promote_another_first(session: Session, version: str, basin: str, at: datetime) -> None:
    """Have a basin that uses a version look back on another, equal one."""
    fields = {part.name: getattr(versions.get(session, version), part.name) for part in dataclasses.fields(NewVersion)}
    members = versions.members_of(session, version)
    before = versions.create(session, NewVersion(**fields | {"label": "the season before"}), members)
    for promoted in (before.id, version):
        promotions.promote(session, promoted, [basin], reason="better", by="someone", at=at)


def _fill(database_url: str) -> Kept:
    """Add what is not made by operations: jobs of every ending, a schedule, an admin's key."""
    database, now = Database(database_url), datetime.now(UTC)
    with database.transaction() as session:
        (run,) = runs.list_runs(session, purpose="operational")
        _promote_another_first(session, run.version_id, BASINS[-1], now)
        asked = runs.newest_changed(session, BASINS[0], KEPT_UNTIL)
        (compared,) = comparisons.list_comparisons(session)
        key, token = keys.make(session, "river office", "admin", None, now)
        posted = [
            jobs.create(session, jobs.NewJob(kind="forecast", params={}, queue="default", created_by=key.name), now)[0]
            for _ in range(3)
        ]
        cancelled, *others = posted
        jobs.request_cancel(session, cancelled.id, now)
        for job in others:
            claimed = jobs.claim(session, job.id, worker="w", lease_until=now + timedelta(minutes=1), at=now)
            assert claimed is not None
        done, failed = others
        jobs.finish(session, done.id, 1, status="succeeded", result={"left_out": {}}, at=now)
        problem = {"kind": "data", "detail": "There are none."}
        jobs.finish(session, failed.id, 1, status="failed", problem=problem, at=now)
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
        kept = weather.keep(session, forecasts, now, operational=True)
        new = NewFeed(
            name="laid-down", settings=read_settings({"adapter": "files", "from": ["/srv"], "product": "own"})
        )
        feed = feeds.create(session, new, key.id, now)
        bridge = bridges.create(session, LIVE, [a_part(basin) for basin in BASINS], now)
        bankfull = NewThreshold(name="bankfull", discharge=4.5)
        for basin in BASINS:
            thresholds.put(session, basin, bankfull, now)
        told = subscriptions.create(session, NewSubscription(url="https://rivers.example/hook"), key.id, now)
        high = LevelChance(
            level="bankfull", kind=None, return_period_years=None, direction="rising", discharge=4.5, chance=0.8
        )
        alerts.settle(session, BASINS[0], run, 10, [high], now=KEPT_UNTIL, wall=now)
        (delivery,) = deliveries.page(session)
        sending = deliveries.claim(session, delivery.id, now)
        assert sending is not None
        deliveries.finish(session, delivery.id, sending.number, now, status_code=200, failure=None)
    database.close()
    return Kept(
        version=run.version_id,
        run=run.id,
        what_if=asked.id,
        comparison=compared.id,
        ended=tuple(job.id for job in posted),
        schedule=schedule.id,
        feed=feed.name,
        bridge=bridge.name,
        threshold=bankfull.name,
        token=token,
        weather=kept.issue_id,
        subscription=told.id,
        delivery=delivery.id,
    )


def free_port() -> int:
    """Return a port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def await_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the service can answer."""
    end = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, f"the service does not answer\n{log.read_text()}"
        try:
            if httpx2.get(f"{address}/health/ready", trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
