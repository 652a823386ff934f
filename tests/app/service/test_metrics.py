"""/metrics: figures that are true, whichever process is asked."""

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.jobs import process_heartbeats
from records.jobs.process_heartbeats import ATTENDANCE, GPUState
from records.runs import run_types
from records.versions import promotions
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_basin, a_job, a_promoted_version, a_run, not_issued
from tests.app.conftest import bearer, serving
from tests.records.runs.test_runs import CLOSED


def figures(client: TestClient, key: dict[str, str]) -> dict[tuple[str, ...], float]:
    """Return every sample by its name and the values of its labels."""
    answer = client.get("/metrics", headers=key)
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_work_that_waits_and_workers_that_are_there(client: TestClient, database: Database) -> None:
    wall = Clock().wall()
    with database.transaction() as session:
        process_heartbeats.beat(session, "first", "worker", ["default", "ingest"], wall)
        process_heartbeats.beat(session, "second", "worker", ["default"], wall)
        process_heartbeats.beat(session, "third", "scheduler", [], wall)
        process_heartbeats.beat(session, "gone", "worker", ["training"], wall)
        last_seen = wall - 2 * process_heartbeats.ABSENT_AFTER
        session.execute(ATTENDANCE.update().where(ATTENDANCE.c.name == "gone").values(seen_at=last_seen))
        a_job(session)
        a_job(session, kind="ingest", queue="ingest")
    shown = figures(client, bearer(database))
    assert [shown["freshet_workers", queue] for queue in ("default", "ingest", "training", "delivery")] == [2, 1, 0, 0]
    assert [shown["freshet_queue_jobs", queue] for queue in ("default", "ingest", "training")] == [1, 1, 0]
    assert shown["freshet_queue_oldest_seconds", "default"] > 0
    assert shown["freshet_queue_oldest_seconds", "training"] == 0


def test_the_gpus_of_workers(client: TestClient, database: Database) -> None:
    wall = Clock().wall()
    well = GPUState(device="cuda:0", id="GPU-1", name="H", memory=8, memory_used=2, utilisation=0.5)
    lost = GPUState(device="cuda:1", unread=absent(Reason.GPU_NOT_READ, cause="it fell"), fault="It fell.")
    with database.transaction() as session:
        for name, gpu in (("first", well), ("second", lost)):
            process_heartbeats.beat(session, name, "worker", ["gpu"], wall, gpu=gpu)
        assert process_heartbeats.gpu_workers(process_heartbeats.live_processes(session)) == 1
    shown = figures(client, bearer(database))
    names = ("usable", "memory_bytes", "memory_used_bytes", "utilisation_ratio")
    assert [shown[f"freshet_gpu_{name}", "GPU-1", "H"] for name in names] == [1, 8, 2, 0.5]
    assert {name: value for name, value in shown.items() if "cuda:1" in name} == {
        ("freshet_gpu_usable", "cuda:1", "unknown"): 0
    }


def test_outcomes_of_the_newest_runs_are_counted(client: TestClient, database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        version = a_promoted_version(session)
        promotions.promote(session, version, ["SYNTH-01"], reason="first", by="someone", at=NOW)
        closed = run_types.BasinResult(basin=run_types.RunBasin(basin_id=BASIN, status="issued"), ledgers=[CLOSED])
        a_run(session, version, closed, not_issued("It does not close.", "SYNTH-01"))
    shown = figures(client, bearer(database))
    assert (shown["freshet_newest_basins", "issued"], shown["freshet_newest_basins", "withheld"]) == (1, 1)
    assert shown["freshet_worst_residual_ratio",] == pytest.approx(CLOSED.residual_mm / CLOSED.tolerance_mm)
    with database.transaction() as session:
        for basin in (BASIN, "SYNTH-01"):
            a_promoted_version(session, basin)
    replaced = figures(client, bearer(database))  # nothing is left of the versions before
    assert not any(replaced.get(("freshet_newest_basins", status)) for status in ("issued", "withheld"))
    assert shown["freshet_newest_t0_age_days", version] == 1
    assert shown["freshet_newest_t0_seconds", version] == 1222732800  # 2008-09-30
    assert shown["freshet_database_bytes",] > 0


def test_requests_are_timed_by_the_template_of_their_address(
    sqlite_client: TestClient, sqlite_database: Database
) -> None:
    key = bearer(sqlite_database)
    for address in ("/v1/basins/01013500", "/v1/basins/01022500", "/no/such/address", "/v1/basins"):
        sqlite_client.get(address)
    shown = figures(sqlite_client, key)
    counts = {name[1:]: value for name, value in shown.items() if name[0] == "freshet_request_seconds_count"}
    assert counts == {
        ("GET", "/v1/basins/{basin}", "404"): 2,
        ("none", "none", "404"): 1,
        ("GET", "/v1/basins", "200"): 1,
    }


def test_another_process_reports_the_same_of_the_service(sqlite: str, sqlite_database: Database) -> None:
    key = bearer(sqlite_database)
    with sqlite_database.transaction() as session:
        a_job(session)
    with serving(sqlite) as one, serving(sqlite) as other:
        one.get("/v1/basins")
        shown = [
            {name: value for name, value in figures(of, key).items() if not name[0].startswith("freshet_request")}
            for of in (one, other)
        ]
    changing = [("freshet_queue_oldest_seconds", "default"), ("freshet_disk_free_bytes",), ("freshet_database_bytes",)]
    for of in shown:
        for name in changing:
            of.pop(name, None)
    assert shown[0] == shown[1]
    assert shown[0]["freshet_queue_jobs", "default"] == 1


def test_it_needs_a_key(sqlite_client: TestClient) -> None:
    assert sqlite_client.get("/metrics").status_code == 401
