"""Jobs over the API: posted once, reported correctly, followed to their end, cancelled."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from app.jobs.endpoints import AT_ONCE
from app.main import create_app
from jobspec import kinds
from records.database import retention
from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from records.weather import bridges
from runtime.settings import Settings
from testing.bridges import LIVE
from testing.records import BASIN, NOW, a_basin, a_claimed_job, a_job, a_record, a_version
from tests.app.conftest import NO_BROKER, bearer, serving
from workers.queue.broker import socket_path, start_embedded

FORECAST = {"kind": "forecast", "params": {"basins": ["01013500"], "horizon": 5, "t0": "2008-04-01"}}


@pytest.fixture
def sqlite(sqlite: str) -> str:
    """A database with the basin, product and version that the requests name."""
    with closing(Database(sqlite)) as database:
        _store_named(database)
    return sqlite


@pytest.fixture
def client(client: TestClient, database: Database) -> TestClient:
    """The service on either database, with what the requests name."""
    _store_named(database)
    return client


def _store_named(database: Database) -> None:
    with database.transaction() as session:
        for product in ("daymet", "maurer", "era5"):
            a_record(session, product, 1980, 2008)
        a_basin(session, "USGS-13235000")


def post(client: TestClient, header: dict[str, str], body: Any = FORECAST, key: str | None = None) -> Any:
    return client.post("/v1/jobs", json=body, headers=header | ({"Idempotency-Key": key} if key else {}))


def test_a_job_is_stored_as_it_was_asked(database: Database, client: TestClient) -> None:
    header = bearer(database)
    answer = post(client, header)
    output = answer.json()
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/v1/jobs/{output['id']}"
    assert output["params"] == {"basins": [BASIN], "horizon": 5, "t0": "2008-04-01"}
    assert (output["kind"], output["status"], output["attempt"]) == ("forecast", "queued", 0)
    assert output["created_by"] == "river office"
    assert client.get(answer.headers["Location"], headers=header).json() == output
    with database.reading() as session:
        stored = jobs.get(session, output["id"])
    assert (stored.params, stored.queue) == (output["params"], "default")


def test_an_operators_key_has_a_limit_of_unfinished_jobs(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    with serving(sqlite, data=tmp_path, unfinished_jobs_per_key=2) as client:
        operator, other, admin = bearer(sqlite_database), bearer(sqlite_database), bearer(sqlite_database, "admin")
        first, _ = (post(client, operator, key=key).json()["id"] for key in ("one", "two"))
        refused = post(client, operator, key="three")
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/too-many-unfinished-jobs")
        assert "has 2 unfinished jobs, and operators may have 2: wait until some" in refused.json()["detail"]
        written = operator | {"Content-Type": "text/csv"}
        table = client.post("/v1/basins/observations", content="basin,date\nMINE-1,2008-01-01", headers=written)
        gauge = client.post("/v1/basins", json={"basin": "MINE-1"}, headers=operator)
        assert (table.status_code, gauge.status_code) == (409, 409)
        assert list((tmp_path / "uploads").iterdir()) == []  # what is refused stays nowhere
        again = post(client, operator, key="two")
        assert again.status_code == 200  # the same request again makes no job, and is not refused
        assert [post(client, key).status_code for key in (other, admin, admin, admin)] == [202] * 4
        assert client.post(f"/v1/jobs/{first}/cancel", headers=operator).status_code == 200
        assert post(client, operator, key="three").status_code == 202
    with sqlite_database.reading() as session:
        assert len(jobs.list_jobs(session)) == 7


def test_a_training_that_needs_more_memory_than_an_operator_may_use_is_refused(
    sqlite: str, sqlite_database: Database
) -> None:
    config = {
        "network": {"architecture": "lstm", "cells": 512},
        "inputs": {"product": "maurer_extended"},
        "train_period": "1999-10-01..2008-09-30",
        "windows": {"spinup_days": 1635, "loss_days": 365, "batch": 400},
    }
    training = {"kind": "training", "params": {"config": config}}
    small = {"kind": "training", "params": {"config": config | {"windows": {"batch": 32}}}}
    operator, admin = bearer(sqlite_database), bearer(sqlite_database, "admin")
    with serving(sqlite) as client:
        refused = client.post("/v1/jobs", json=training, headers=operator)
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/training-too-large")
        detail = refused.json()["detail"]
        for named in ("4.0 GiB", "`windows.batch` (400; batch 59 would fit)", "`network.cells` (512)"):
            assert named in detail
        posted = [
            client.post("/v1/jobs", json=small, headers=operator),
            client.post("/v1/jobs", json=training, headers=admin),
        ]
        assert [answer.json()["type"] for answer in posted] == ["/problems/invalid-request"] * 2  # nothing is stored
    with serving(sqlite, operator_job_mib=512) as client:
        too_large = client.post("/v1/jobs", json=small, headers=operator).json()
        assert too_large["type"] == "/problems/training-too-large"


def test_jobs_of_the_service_have_a_queue_of_their_own(sqlite_database: Database, sqlite_client: TestClient) -> None:
    bodies = ({"kind": "forecast", "params": {}}, {"kind": "replay", "params": {"period": "1990-10-01..2000-09-30"}})
    queues: dict[str, list[str]] = {}
    for scope in ("operator", "admin"):
        header = bearer(sqlite_database, scope)
        posted = [post(sqlite_client, header, body).json()["id"] for body in bodies]
        with sqlite_database.reading() as session:
            queues[scope] = [jobs.get(session, job).queue for job in posted]
    assert queues == {"operator": ["default", "default"], "admin": ["service", "default"]}


def test_without_a_broker_the_job_waits_and_the_answer_reports_it(sqlite: str, sqlite_database: Database) -> None:
    with serving(sqlite, broker_url=NO_BROKER) as client:
        output = post(client, bearer(sqlite_database)).json()
    assert (output["status"], output["sent_at"]) == ("queued", None)
    assert "broker" in output["missing"]["sent_at"]
    assert set(output["missing"]) == {name for name, value in output.items() if value is None}
    with sqlite_database.reading() as session:
        assert [job.id for job in queues.unsent(session)] == [output["id"]]


def test_with_a_broker_the_workers_are_reported(sqlite: str, sqlite_database: Database, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, database_url=sqlite)
    broker = start_embedded(settings)
    try:
        assert socket_path(settings).exists()
        with serving(sqlite, data=tmp_path, broker_url=None) as client:
            header = bearer(sqlite_database)
            output = post(client, header, key="once").json()
            again = post(client, header, key="once").json()
        assert output["sent_at"] is not None
        assert again == output
    finally:
        broker.terminate()
        broker.wait()


def test_the_same_key_is_the_same_job(database: Database, client: TestClient) -> None:
    header = bearer(database)
    first, again = post(client, header, key="daily"), post(client, header, key="daily")
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json() == again.json()
    assert again.headers["Location"] == first.headers["Location"]
    other = post(client, header, {"kind": "forecast", "params": {}}, "daily")
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-conflict")
    assert len(client.get("/v1/jobs", headers=header).json()["jobs"]) == 1


def test_the_same_key_is_the_same_job_though_what_it_creates_is_there_by_now(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    header, fit = bearer(sqlite_database), {"from": "era5", "to": "maurer"}
    body = {"kind": "bridge", "params": {"name": LIVE.name, "fit": fit}}
    first = post(sqlite_client, header, body, "once")
    with sqlite_database.transaction() as session:
        bridges.create(session, LIVE, [], NOW)
    again, another = (post(sqlite_client, header, body, key) for key in ("once", "twice"))
    assert (first.status_code, again.status_code, another.status_code) == (202, 200, 403)
    assert again.json()["id"] == first.json()["id"]


def test_idempotency_keys_of_different_clients_are_independent(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    mine, yours = (post(sqlite_client, bearer(sqlite_database), key="daily") for _ in range(2))
    assert (mine.status_code, yours.status_code) == (202, 202)
    assert mine.json()["id"] != yours.json()["id"]


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "ingest", "params": {"from": ["/srv/camels", "https://host/a.zip#sha256=" + "0" * 64]}},
        {"kind": "evaluation", "params": {"period": "1999-10-01..2000-09-30", "basins": [BASIN]}},
        {"kind": "pretrained", "params": {"name": "mclstm-maurer-447", "product": "daymet", "promote": True}},
        {
            "kind": "training",
            "params": {
                "config": {
                    "inputs": {"product": "daymet", "static": ["p_mean"]},
                    "train_period": "1999-10-01..2008-09-30",
                    "schedule": {"kind": "staircase", "epochs": 3, "rates": [[0, 0.01]]},
                    "members": 3,
                },
                "label": "a label",
            },
        },
        {
            "kind": "training",
            "params": {
                "config": {
                    "parent": "011cb6d0d4209b8d7f6a51",
                    "train_period": "1999-10-01..2008-09-30",
                    "validation_period": "1980-10-01..1989-09-30",
                    "schedule": {"steps": 50},
                },
                "basins": ["USGS-13235000"],
                "compare": {"period": "1989-10-01..1999-09-30", "promote": True},
            },
        },
    ],
)
def test_the_job_gets_the_parameters_of_the_request(
    sqlite_database: Database, sqlite_client: TestClient, body: dict[str, Any]
) -> None:
    if "parent" in body["params"].get("config", ()):
        with sqlite_database.transaction() as session:
            body["params"]["config"]["parent"] = a_version(session).id
    answer = post(sqlite_client, bearer(sqlite_database, "admin"), body)
    assert answer.status_code == 202
    assert answer.json()["params"] == body["params"]
    assert kinds.read(body["kind"], answer.json()["params"]).stored() == body["params"]


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"network": {"cells": 8}, "validation_period": "1980-10-01..1989-09-30"}, "network"),
        ({}, "validation_period"),
    ],
)
def test_a_fine_tuning_takes_its_network_from_its_parent_and_needs_a_validation(
    sqlite_database: Database, sqlite_client: TestClient, config: dict[str, Any], where: str
) -> None:
    asked = {"parent": "011cb6d0d4209b8d7f6a51", "train_period": "1999-10-01..2008-09-30", **config}
    answer = post(sqlite_client, bearer(sqlite_database), {"kind": "training", "params": {"config": asked}})
    assert answer.status_code == 422
    assert where in answer.text


def test_jobs_are_filtered_by_their_properties(database: Database, client: TestClient) -> None:
    client.headers |= bearer(database)
    with database.transaction() as session:
        posted = [a_job(session) for _ in range(3)]
        running = a_claimed_job(session, kind="evaluation")
        child = a_job(session, kind="member", queue="training", parent_id=running)
    assert [one["id"] for one in client.get("/v1/jobs").json()["jobs"]] == [child, running, *posted[::-1]]
    assert [one["id"] for one in client.get("/v1/jobs?kind=evaluation&status=running").json()["jobs"]] == [running]
    assert [one["parent"] for one in client.get(f"/v1/jobs?parent={running}").json()["jobs"]] == [running]
    address, seen = "/v1/jobs?status=queued&limit=3", []
    while address:
        page = client.get(address).json()
        seen += [one["id"] for one in page["jobs"]]
        address = page["next"]
    assert seen == [child, *posted[::-1]]
    assert client.get("/v1/jobs?status=gone").status_code == 422


def test_only_a_job_that_has_ended_is_tagged(sqlite_database: Database, sqlite_client: TestClient) -> None:
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    with sqlite_database.transaction() as session:
        job = a_claimed_job(session)
    before = sqlite_client.get(f"/v1/jobs/{job}")
    assert ("ETag" in before.headers, before.headers["Cache-Control"]) == (False, "no-store")
    with sqlite_database.transaction() as session:
        attempts.finish(session, job, 1, status="failed", problem={"kind": "odd", "detail": "It is odd."}, at=NOW)
    after = sqlite_client.get(f"/v1/jobs/{job}")
    assert after.json()["problem"] == {"kind": "odd", "detail": "It is odd."}
    held = sqlite_client.get(f"/v1/jobs/{job}", headers={"If-None-Match": after.headers["ETag"]})
    assert held.status_code == 304


def test_a_queued_job_is_cancelled_and_a_running_one_is_asked(database: Database, client: TestClient) -> None:
    header = bearer(database, "admin")
    with database.transaction() as session:
        queued, running = a_job(session), a_claimed_job(session)
    assert client.post(f"/v1/jobs/{queued}/cancel", headers=header).json()["status"] == "cancelled"
    asked = client.post(f"/v1/jobs/{running}/cancel", headers=header).json()
    assert (asked["status"], asked["cancel_requested_at"] is None) == ("running", False)
    again = client.post(f"/v1/jobs/{queued}/cancel", headers=header)
    assert (again.status_code, again.json()["status"]) == (200, "cancelled")


def test_only_who_posted_a_job_or_an_admin_stops_it(sqlite_database: Database, sqlite_client: TestClient) -> None:
    poster, other = bearer(sqlite_database), bearer(sqlite_database, name="another office")
    admin = bearer(sqlite_database, "admin", "head office")
    first, second = (post(sqlite_client, poster).json()["id"] for _ in range(2))
    with sqlite_database.transaction() as session:
        of_a_schedule = a_job(session)
        part = a_job(session, kind="member", queue="training", parent_id=second)

    for job, attacker in [(first, other), (second, other), (part, other), (of_a_schedule, other)]:
        refused = sqlite_client.post(f"/v1/jobs/{job}/cancel", headers=attacker)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-your-job")
        with sqlite_database.reading() as session:
            stored = jobs.get(session, job)
        assert (stored.status, stored.cancel_requested_at) == ("queued", None)

    for job, header in [(first, poster), (part, poster), (second, admin), (of_a_schedule, admin)]:
        assert sqlite_client.post(f"/v1/jobs/{job}/cancel", headers=header).json()["status"] == "cancelled"


@pytest.mark.parametrize("address", ["/v1/jobs/nothing", "/v1/jobs/nothing/events", "/v1/jobs/nothing/cancel"])
def test_a_job_that_is_not_stored_is_a_problem(
    sqlite_database: Database, sqlite_client: TestClient, address: str
) -> None:
    method = "POST" if address.endswith("cancel") else "GET"
    answer = sqlite_client.request(method, address, headers=bearer(sqlite_database))
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-job")


@pytest.mark.parametrize("part", ["", "/events"])
def test_a_job_that_was_pruned_is_gone_and_the_rule_is_reported(
    sqlite_database: Database, sqlite_client: TestClient, part: str
) -> None:
    with sqlite_database.transaction() as session:
        job = a_claimed_job(session)
        attempts.finish(session, job, 1, status="succeeded", at=NOW)
        retention.note(session, "jobs", jobs.remove(session, [job]), NOW, 90)
    answer = sqlite_client.get(f"/v1/jobs/{job}{part}", headers=bearer(sqlite_database))
    assert (answer.status_code, answer.json()["type"]) == (410, "/problems/gone")
    assert "Jobs are stored for 90 days after they have ended. It was pruned on 2008-10-01." in answer.json()["detail"]


@pytest.fixture
def ended(database: Database) -> str:
    """A job with more events than are read at once, which has succeeded."""
    with database.transaction() as session:
        job = a_claimed_job(session)
        for number in range(AT_ONCE):
            jobs.log(session, job, 1, f"line {number}\nand more", NOW)
        attempts.finish(session, job, 1, status="succeeded", result={}, at=NOW)
    return job


def read(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield id, type and data of each event of a stream."""
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            yield int(fields["id"]), fields["event"], json.loads(fields["data"])


def test_a_stream_reports_every_event_once_and_ends_with_the_job(
    database: Database, client: TestClient, ended: str
) -> None:
    client.headers |= bearer(database, "admin")
    answer = client.get(f"/v1/jobs/{ended}/events")
    shown = list(read(answer.text))
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["Cache-Control"] == "no-store"
    assert [name for _, name, _ in shown] == ["status", "status", *["log"] * AT_ONCE, "status"]
    assert [data["text"] for _, name, data in shown if name == "log"][1] == "line 1\nand more"
    assert shown[-1][2] == {
        "at": "2008-10-01T06:00:00Z",
        "status": "succeeded",
        "attempt": 1,
        "cancel_requested": False,
    }
    assert [number for number, _, _ in shown] == sorted({number for number, _, _ in shown})


def test_a_stream_goes_on_after_the_last_event_seen(database: Database, client: TestClient, ended: str) -> None:
    client.headers |= bearer(database, "admin")
    address = f"/v1/jobs/{ended}/events"
    shown = list(read(client.get(address).text))
    for seen in (0, 1, len(shown) - 2, len(shown) - 1):
        rest = client.get(address, headers={"Last-Event-ID": str(shown[seen][0])})
        assert list(read(rest.text)) == shown[seen + 1 :]
    assert client.get(address, headers={"Last-Event-ID": "-1"}).status_code == 422
    assert client.get(address, headers={"Last-Event-ID": "9" * 30}).status_code == 422


def test_a_probe_of_a_stream_ends_at_once(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        job = a_claimed_job(session)
    sqlite_client.headers |= bearer(sqlite_database)
    answer = sqlite_client.head(f"/v1/jobs/{job}/events")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert sqlite_client.head("/v1/jobs/nothing/events").status_code == 404


def test_a_stream_follows_a_job_and_stops_when_its_reader_goes(sqlite: str, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        job, other = a_claimed_job(session), a_claimed_job(session)

    def end(id_: str) -> None:
        with sqlite_database.transaction() as session:
            attempts.finish(session, id_, 1, status="succeeded", result={}, at=NOW)

    headers = [(b"host", b"localhost"), (b"authorization", bearer(sqlite_database)["Authorization"].encode())]

    async def listen(leave: bool, id_: str) -> str:
        """Read a stream; after its first events the reader goes, or else the job ends."""
        heard, first = [], asyncio.Event()

        async def receive() -> Message:
            if not leave:
                await asyncio.Event().wait()
            await first.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            heard.append(message.get("body", b"").decode())
            if heard[-1] and not first.is_set():
                first.set()
                if not leave:
                    await asyncio.to_thread(end, id_)

        path = f"/v1/jobs/{id_}/events"
        scope: Scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1"}
        scope.update(
            method="GET",
            path=path,
            raw_path=path.encode(),
            query_string=b"",
            headers=headers,
        )
        scope.update(scheme="http", root_path="", server=("test", 80), client=("test", 1))
        await app(scope, receive, send)
        return "".join(heard)

    async def both() -> tuple[str, str]:
        async with app.router.lifespan_context(app):
            return await asyncio.wait_for(listen(False, job), 30), await asyncio.wait_for(listen(True, other), 30)

    app = create_app(Settings(database_url=sqlite, broker_url="memory://"))
    followed, left = asyncio.run(both())
    assert [data["status"] for _, _, data in read(followed)] == ["queued", "running", "succeeded"]
    assert "succeeded" not in left


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"kind": "flood", "params": {}}, "'kind' must be one of 'ingest', 'fetch'"),
        ({"kind": "forecast", "params": {"horzion": 3}}, "params.horzion: There is no such field."),
        ({"kind": "training", "params": {}}, "params.config: It is needed."),
        (
            {"kind": "training", "params": {"config": {"train_period": "2000-10-01..2001-09-30"}}},
            "params.config.inputs: It is",
        ),
    ],
)
def test_a_request_is_refused_in_plain_words(
    database: Database, client: TestClient, body: dict[str, Any], detail: str
) -> None:
    answer = post(client, bearer(database), body)
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]
    assert not {"scratch", "fine-tuning"} & set(re.split(r"[^a-z-]", answer.text))
