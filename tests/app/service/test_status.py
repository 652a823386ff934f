"""The status: what there is, how fresh it is, and what is degraded."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.service import health
from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.access import keys
from records.database import storage_sizes
from records.database.engine import Database
from records.jobs import attempts, jobs, process_heartbeats, schedules
from records.jobs.process_heartbeats import GPUState
from records.series import series_writer
from records.versions import promotions
from runtime import watchdog
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_promoted_version,
    a_run,
    a_source,
    a_version,
    daily,
    issued,
    not_issued,
)
from tests.app.conftest import NO_BROKER, serving
from workers.queue.broker import start_embedded


def codes(output: dict[str, Any]) -> list[str]:
    """Return the codes of what is degraded."""
    assert (output["status"] == "ok") == (not output["degraded"])
    return [one["code"] for one in output["degraded"]]


def fill_records(database: Database, last: str = "2008-09-30") -> str:
    """Store a current version of a basin, its rain until a day, and another product that is not used."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_version(session)
        for product, end in (("maurer_extended", last), ("nldas", "1999-12-31")):
            series_writer.write(session, BASIN, product, "precipitation", daily(end, 1.0), a_source(session), NOW)
    return version


def test_a_stored_day_of_the_future_does_not_make_an_input_fresh(database: Database, client: TestClient) -> None:
    fill_records(database, last="2008-09-01")
    with database.transaction() as session:
        series_writer.write(
            session, BASIN, "maurer_extended", "tmax", daily("2099-01-02", 1.0, unit="degC"), a_source(session), NOW
        )
    output = client.get("/v1/status").json()
    assert "stale-input" in codes(output)
    assert output["inputs"][0]["newest_day"] == "2008-09-01"


def test_new_and_complete_data_are_ok(database: Database, client: TestClient) -> None:
    version = fill_records(database)
    with database.transaction() as session:
        a_run(session, version, t0=day("2008-09-29"))
        a_run(session, version, t0=day("2008-09-30"))
        a_run(session, version, t0=day("2008-10-01"), available_at=NOW + timedelta(hours=1))
    answer = client.get("/v1/status")
    output = answer.json()
    assert (codes(output), output["now"], output["replayed"]) == ([], "2008-10-01T06:00:00Z", True)
    assert output["database_revision"] == client.get("/health/ready").json()["revision"]
    assert output["counts"] == {"basins": 1, "basins_with_model": 1, "model_versions": 2, "runs": 2}
    assert output["versions"] == [
        {
            "version": version,
            "product": "maurer_extended",
            "current_for": 1,
            "runs": 2,
            "newest_t0": "2008-09-30",
            "newest_issue": "2008-10-01T06:00:00Z",
            "age_days": 1,
            "stale": False,
        }
    ]
    assert output["inputs"] == [
        {"product": "maurer_extended", "newest_day": "2008-09-30", "age_days": 1, "stale": False, "used": True},
        {"product": "nldas", "newest_day": "1999-12-31", "age_days": 3197, "stale": True, "used": False},
    ]
    assert answer.headers["Cache-Control"] == "no-store"


def test_old_data_are_reported_with_their_age(sqlite_database: Database, sqlite: str) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, t0=day("2008-09-30"))
    with serving(sqlite, NOW + timedelta(days=2)) as client:
        assert codes(client.get("/v1/status").json()) == []
    with serving(sqlite, NOW + timedelta(days=3)) as client:
        output = client.get("/v1/status").json()
    assert codes(output) == ["stale-forecast", "stale-input"]
    assert all("4 days behind the clock" in one["sentence"] for one in output["degraded"])
    assert (output["versions"][0]["stale"], output["inputs"][0]["stale"]) == (True, True)


def test_a_forecast_is_as_old_as_the_last_day_whose_weather_was_filled(sqlite_database: Database, sqlite: str) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        promotions.promote(session, version, [a_basin(session, "SYNTH-01")], reason="too", by="someone", at=NOW)
        a_run(session, version, issued(), issued("SYNTH-01"), t0=day("2008-09-26"), filled_days=4)
    with serving(sqlite, NOW + timedelta(days=2)) as client:
        output = client.get("/v1/status").json()
    assert codes(output) == []
    (of_version,) = output["versions"]
    assert (of_version["newest_t0"], of_version["age_days"], of_version["stale"]) == ("2008-09-26", 7, False)
    with serving(sqlite, NOW + timedelta(days=3)) as client:
        output = client.get("/v1/status").json()
    assert codes(output) == ["stale-forecast", "stale-input"]


def test_a_basin_that_was_left_behind_is_reported(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        promotions.promote(session, version, [a_basin(session, "SYNTH-01")], reason="too", by="someone", at=NOW)
        a_run(session, version, issued(), issued("SYNTH-01"), t0=day("2008-09-27"))
        a_run(session, version)
    output = sqlite_client.get("/v1/status").json()
    assert codes(output) == ["stale-basins"]
    assert "1 of 2 basins have a forecast" in output["degraded"][0]["sentence"]
    assert "SYNTH-01" in output["degraded"][0]["sentence"]


def test_missing_data_are_reported(sqlite_database: Database, sqlite_client: TestClient) -> None:
    assert codes(sqlite_client.get("/v1/status").json()) == ["no-basins"]
    with sqlite_database.transaction() as session:
        a_basin(session)
    assert codes(sqlite_client.get("/v1/status").json()) == ["no-model"]
    version = fill_records(sqlite_database)
    output = sqlite_client.get("/v1/status").json()
    assert codes(output) == ["no-forecast"]
    assert output["versions"][0]["newest_t0"] is None
    assert set(output["missing"]) == {f"versions.{version}", "storage_measured_on"}


def test_a_newest_run_that_was_not_issued_everywhere_is_reported(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_basin(session, "SYNTH-01")
        run = a_run(session, version, issued(), not_issued("The rain ends.", "SYNTH-01")).id
    output = sqlite_client.get("/v1/status").json()
    assert codes(output) == ["not-issued"]
    assert run in output["degraded"][0]["sentence"]
    with sqlite_database.transaction() as session:
        a_run(session, version)
    assert codes(sqlite_client.get("/v1/status").json()) == []


def posted(database: Database, at: datetime, **chosen: Any) -> str:
    new = jobs.NewJob(**({"kind": "forecast", "params": {}, "queue": "default"} | chosen))
    with database.transaction() as session:
        return jobs.create(session, new, at)[0].id


def ended(database: Database, job: str, **ending: Any) -> None:
    now = Clock(None).wall()
    with database.transaction() as session:
        assert attempts.claim(session, job, worker="w", lease_until=now + timedelta(minutes=1), at=now) is not None
        attempts.finish(session, job, 1, at=now, **ending)


def work_codes(client: TestClient) -> list[str]:
    return [code for code in codes(client.get("/v1/status").json()) if code != "no-basins"]


def test_a_queue_that_nobody_takes_from_is_reported(database: Database, client: TestClient) -> None:
    now = Clock(None).wall()
    posted(database, now)
    assert work_codes(client) == []
    first = posted(database, now - timedelta(minutes=7))
    (shown,) = [one for one in client.get("/v1/status").json()["degraded"] if one["code"] == "no-worker"]
    assert shown["sentence"].startswith("2 jobs of the queue default wait, the first for 7 minutes")
    with database.transaction() as session:
        assert attempts.claim(session, first, worker="w", lease_until=now + timedelta(minutes=1), at=now) is not None
    posted(database, now - timedelta(minutes=7))
    assert work_codes(client) == []
    posted(database, now - timedelta(minutes=7), kind="training", queue="training")
    assert work_codes(client) == ["no-worker"]


def test_a_worker_that_runs_a_job_of_another_queue_or_has_just_ended_one_counts(
    database: Database, client: TestClient
) -> None:
    now = Clock(None).wall()
    with database.transaction() as session:
        process_heartbeats.beat(session, "w", "worker", ["default", "service"], now)
    first = posted(database, now - timedelta(minutes=7))
    (shown,) = [one for one in client.get("/v1/status").json()["degraded"] if one["code"] == "no-worker"]
    assert shown["sentence"].endswith("1 idle worker of it took none: read their log, and restart them.")
    posted(database, now - timedelta(minutes=7), queue="service")
    with database.transaction() as session:
        assert attempts.claim(session, first, worker="w", lease_until=now + timedelta(minutes=1), at=now) is not None
    assert work_codes(client) == []
    with database.transaction() as session:
        attempts.finish(session, first, 1, at=now, status="succeeded", result={})
    assert work_codes(client) == []
    with database.transaction() as session:
        session.execute(jobs.JOBS.update().values(claimed_at=now - timedelta(minutes=6)))
    assert work_codes(client) == ["no-worker"]


def test_a_queue_that_other_jobs_occupy_is_reported_after_an_hour(database: Database, client: TestClient) -> None:
    now = Clock(None).wall()
    for queue, kind in (("default", "forecast"), ("training", "training")):
        running = posted(database, now - timedelta(hours=3), queue=queue, kind=kind)
        with database.transaction() as session:
            lease_until = now + timedelta(minutes=1)
            assert attempts.claim(session, running, worker="w", lease_until=lease_until, at=now) is not None
        posted(database, now - timedelta(minutes=59), queue=queue, kind=kind)
    assert work_codes(client) == []
    posted(database, now - timedelta(minutes=61))
    posted(database, now - timedelta(minutes=61), kind="training", queue="training")  # behind another member
    (shown,) = [each for each in client.get("/v1/status").json()["degraded"] if each["code"] == "queue-age"]
    assert shown["sentence"].startswith("2 jobs of the queue default wait, the first for 61 minutes, behind")
    assert work_codes(client) == ["queue-age"]


def test_readiness_reports_what_is_amiss_by_its_code(
    database: Database, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0.0)
    assert client.get("/health/ready").json()["degraded"] == []
    posted(database, Clock(None).wall() - timedelta(minutes=7))
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["degraded"]) == (200, ["no-worker"])


def test_readiness_looks_once_however_often_it_is_asked(
    database: Database, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 1000.0)
    assert client.get("/health/ready").json()["degraded"] == []
    posted(database, Clock(None).wall() - timedelta(minutes=7))
    assert client.get("/health/ready").json()["degraded"] == []


def test_work_that_failed_is_reported_until_the_same_succeeds(database: Database, client: TestClient) -> None:
    now, problem = Clock(None).wall(), {"kind": "data", "detail": "There are none."}
    failed = posted(database, now)
    ended(database, failed, status="failed", problem=problem)
    ended(database, posted(database, now, kind="ingest"), status="succeeded", result={})
    (shown,) = [one for one in client.get("/v1/status").json()["degraded"] if one["code"] == "failed-job"]
    assert f"/v1/jobs/{failed}" in shown["sentence"]
    ended(database, posted(database, now), status="succeeded", result={})
    assert work_codes(client) == []


def test_failures_of_operators_jobs_do_not_degrade_the_service(database: Database, client: TestClient) -> None:
    now, problem = Clock(None).wall(), {"kind": "data", "detail": "There are none."}
    with database.transaction() as session:
        operator, admin = (keys.make(session, scope, scope, None, now)[0].id for scope in ("operator", "admin"))
        new = schedules.NewSchedule(
            name="own", kind="forecast", params={}, cron="0 6 * * *", timezone="UTC", enabled=True, next_run_at=now
        )
        schedule = schedules.create(session, new, now).id
    before = client.get("/v1/status").json()["degraded"]
    ended(database, posted(database, now, key_id=operator), status="failed", problem=problem)
    scheduled = posted(database, now, key_id=operator, schedule_id=schedule)
    with database.transaction() as session:
        schedules.advance(session, schedule, 1, ran_at=now, next_run_at=now + timedelta(days=1), job_id=scheduled)
    ended(database, scheduled, status="failed", problem=problem)
    running = posted(database, now - timedelta(hours=3), key_id=operator)
    with database.transaction() as session:
        attempts.claim(session, running, worker="w", lease_until=now + timedelta(minutes=1), at=now)
    posted(database, now - timedelta(hours=3), key_id=operator)  # behind the operator's own
    assert client.get("/v1/status").json()["degraded"] == before
    posted(database, now - timedelta(minutes=61), key_id=admin)
    (shown,) = [each for each in client.get("/v1/status").json()["degraded"] if each["code"] == "queue-age"]
    assert shown["sentence"].startswith("1 job of the queue default waits, the first for 61 minutes, behind")
    ended(database, posted(database, now, key_id=admin), status="failed", problem=problem)
    assert "failed-job" not in codes(client.get("/v1/status").json())
    failed = posted(database, now)  # the service's own
    ended(database, failed, status="failed", problem=problem)
    ended(database, posted(database, now, key_id=operator), status="succeeded", result={})  # hides nothing either
    (shown,) = [each for each in client.get("/v1/status").json()["degraded"] if each["code"] == "failed-job"]
    assert f"/v1/jobs/{failed}" in shown["sentence"]


def test_a_schedule_whose_work_failed_is_reported_until_it_succeeds(database: Database, client: TestClient) -> None:
    now, problem = Clock(None).wall(), {"kind": "data", "detail": "There are none."}
    new = schedules.NewSchedule(
        name="daily", kind="forecast", params={}, cron="0 6 * * *", timezone="UTC", enabled=True, next_run_at=now
    )
    with database.transaction() as session:
        schedule = schedules.create(session, new, now).id
    for revision, (status, expected) in enumerate([("failed", ["failing-schedule"]), ("succeeded", [])], start=1):
        job, later = posted(database, now, schedule_id=schedule), now + timedelta(days=1)
        with database.transaction() as session:
            assert schedules.advance(session, schedule, revision, ran_at=now, next_run_at=later, job_id=job)
        ended(database, job, status=status, **({"problem": problem} if status == "failed" else {"result": {}}))
        assert work_codes(client) == expected


def test_a_schedule_that_leaves_out_times_for_an_unfinished_job_is_reported_until_that_ends(
    database: Database, client: TestClient
) -> None:
    now = Clock(None).wall()
    new = schedules.NewSchedule(name="daily", kind="daily", params={}, cron="0 6 * * *", timezone="UTC")
    with database.transaction() as session:
        schedule = schedules.create(session, new, now).id
    job, fired = posted(database, now, schedule_id=schedule), now - timedelta(days=2)
    with database.transaction() as session:
        assert schedules.advance(session, schedule, 1, ran_at=fired, next_run_at=now + timedelta(days=1), job_id=job)
    assert work_codes(client) == ["schedule-skipped"]
    (shown,) = [each for each in client.get("/v1/status").json()["degraded"] if each["code"] == "schedule-skipped"]
    assert f"See /v1/jobs/{job}." in shown["sentence"]
    ended(database, job, status="succeeded", result={})
    assert work_codes(client) == []


def test_a_failed_schedule_is_over_once_the_same_work_has_succeeded(database: Database, client: TestClient) -> None:
    now, problem = Clock(None).wall(), {"kind": "data", "detail": "There are none."}
    params = {"basins": [BASIN], "horizon": 10}
    new = schedules.NewSchedule(
        name="daily", kind="forecast", params=params, cron="0 6 * * *", timezone="UTC", enabled=True, next_run_at=now
    )
    with database.transaction() as session:
        admin, operator = (keys.make(session, scope, scope, None, now)[0].id for scope in ("admin", "operator"))
        schedule = schedules.create(session, new, now).id
    failed = posted(database, now, params=params, schedule_id=schedule)
    with database.transaction() as session:
        assert schedules.advance(session, schedule, 1, ran_at=now, next_run_at=now + timedelta(days=1), job_id=failed)
    ended(database, failed, status="failed", problem=problem)
    for others in (
        {"params": {}, "key_id": admin},
        {"params": {"basins": ["USGS-13235000"]}, "key_id": admin},
        {"params": params | {"t0": "2008-04-01"}, "key_id": admin},
        {"params": params, "key_id": operator},
        {"params": params, "key_id": admin, "kind": "what-if"},
    ):
        ended(database, posted(database, now, **others), status="succeeded", result={})
        assert work_codes(client) == ["failing-schedule"]
    ended(database, posted(database, now, params=params | {"horizon": 5}, key_id=admin), status="succeeded", result={})
    assert work_codes(client) == []


def test_a_disk_that_is_nearly_full_is_reported(sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage(tmp_path).free
    monkeypatch.setattr(health, "MIN_FREE", free * 2)
    with serving(sqlite, data=tmp_path) as client:
        assert "disk" in codes(client.get("/v1/status").json())
    monkeypatch.setattr(health, "MIN_FREE", 1)
    with serving(sqlite, data=tmp_path) as client:
        assert "disk" not in codes(client.get("/v1/status").json())


def test_a_part_that_is_being_started_again_is_reported(
    sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getppid", os.getpid)  # the supervisor, of this test, is the parent of the API
    since = datetime(2008, 10, 1, 6, tzinfo=UTC)
    with serving(sqlite, data=tmp_path) as client:
        assert "part-restarting" not in codes(client.get("/v1/status").json())
        watchdog.store_restarts(tmp_path, [watchdog.Restart("scheduler", "hung and was killed", 3, since)])
        (shown,) = [one for one in client.get("/v1/status").json()["degraded"] if one["code"] == "part-restarting"]
    assert shown["sentence"].startswith("The scheduler hung and was killed, 3 times since 2008-10-01 06:00 UTC")


def test_a_clock_that_was_ahead_is_reported(database: Database, client: TestClient) -> None:
    now = Clock(None).wall()
    posted(database, now)
    assert work_codes(client) == []
    ahead = posted(database, now + timedelta(days=365))
    (shown,) = [one for one in client.get("/v1/status").json()["degraded"] if one["code"] == "clock"]
    assert f"job {ahead} is of {now + timedelta(days=365):%Y-%m-%d}" in shown["sentence"]


@pytest.mark.parametrize(
    ("ahead", "shown"),
    [
        (timedelta(minutes=4), None),
        (
            timedelta(days=365, seconds=30),
            "The clock of a scheduler's machine is 525600 minutes ahead of that of the database",
        ),
        (
            timedelta(days=-365, seconds=-30),
            "The clock of a scheduler's machine is 525600 minutes behind that of the database",
        ),
    ],
)
def test_a_clock_that_is_wrong_is_reported_while_its_process_is_there(
    database: Database, client: TestClient, ahead: timedelta, shown: str | None
) -> None:
    with database.transaction() as session:
        process_heartbeats.beat(session, "first", "scheduler", [], Clock().wall())
        process_heartbeats.beat(session, "second", "scheduler", [], Clock().wall() + ahead)
    output = client.get("/v1/status").json()
    sentences = [each["sentence"] for each in output["degraded"] if each["code"] == "clock"]
    assert [sentence.split(": ")[0] for sentence in sentences] == ([shown] if shown else [])
    assert output["processes"] == {"schedulers": 2, "workers": {}, "gpus": []}
    with database.transaction() as session:
        process_heartbeats.remove(session, "second")
    output = client.get("/v1/status").json()
    assert (codes(output), output["processes"]) == (["no-basins"], {"schedulers": 1, "workers": {}, "gpus": []})


def test_the_gpus_of_workers_are_shown_and_lost_ones_reported(database: Database, client: TestClient) -> None:
    unread = absent(Reason.GPU_NOT_READ, cause="it fell")
    for gpu in (
        GPUState(device="cuda:0", id="GPU-1", name="H100", memory=2**33, memory_used=2**31, utilisation=0.5),
        GPUState(device="cuda:0", unread=unread, fault="It fell."),
    ):
        with database.transaction() as session:
            process_heartbeats.beat(session, "first", "worker", ["gpu"], Clock().wall(), gpu=gpu)
        output = client.get("/v1/status").json()
        (shown,) = output["processes"]["gpus"]
        if gpu.fault is None:
            values = {"name": "H100", "memory_bytes": 2**33, "memory_used_bytes": 2**31, "utilisation": 0.5}
            assert shown == {"device": "cuda:0", **values, "usable": True, "missing": {}}
            assert work_codes(client) == []
            assert "H100, 2.1 of 8.6 GB in use" in client.get("/status").text
        else:
            assert (shown["name"], shown["usable"]) == (None, False)
            assert shown["missing"]["memory_bytes"] == "It is not known, because it fell."
            (degraded,) = [each for each in output["degraded"] if each["code"] == "gpu-lost"]
            assert degraded["sentence"].endswith("trainings go to others: It fell.")
            assert "not used" in client.get("/status").text


def test_a_fault_that_blocks_a_worker_is_reported_until_it_goes_on(database: Database, client: TestClient) -> None:
    for trouble, expected in (("The process of the job 1 was stopped.", ["job-stopped"]), (None, [])):
        with database.transaction() as session:
            process_heartbeats.beat(session, "first", "worker", ["default"], Clock().wall(), trouble=trouble)
        assert work_codes(client) == expected


def test_a_broker_that_does_not_answer_is_reported(sqlite: str, tmp_path: Path) -> None:
    with serving(sqlite, broker_url=NO_BROKER) as client:
        assert "no-broker" in codes(client.get("/v1/status").json())
    settings = Settings(data=tmp_path, database_url=sqlite)
    broker = start_embedded(settings)
    try:
        with serving(sqlite, data=tmp_path, broker_url=None) as client:
            assert "no-broker" not in codes(client.get("/v1/status").json())
    finally:
        broker.kill()
        broker.wait()


def test_the_room_of_each_kind_of_data_is_as_the_last_prune_measured_it(client: TestClient, database: Database) -> None:
    with database.transaction() as session:
        storage_sizes.note(session, day("2008-09-20"), {"states": 1_000_000, "forecasts": 5})
        storage_sizes.note(session, day("2008-09-30"), {"states": 3_000_000, "jobs": 7})
    output = client.get("/v1/status").json()
    assert output["storage_measured_on"] == "2008-09-30"
    states, jobs = output["storage"]
    assert (states["kind"], states["size_bytes"], states["bytes_a_day"]) == ("states", 3_000_000, 200_000)
    assert (jobs["kind"], jobs["size_bytes"], jobs["bytes_a_day"]) == ("jobs", 7, None)
    assert "one day alone" in jobs["missing"]["bytes_a_day"]
    page = client.get("/status").text
    assert "+0.2" in page
    assert "3.0" in page
