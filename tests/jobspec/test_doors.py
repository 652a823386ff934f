"""A wrong request is refused by name at every door: the API, schedules, the command line, and the workers."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from starlette.testclient import TestClient

from jobspec.kinds import KINDS, REQUESTABLE
from records.database.engine import Database
from records.jobs import jobs
from runtime.settings import Settings
from testing.jobs.requests import Wrong, wrong_requests
from tests.app.conftest import bearer, serving
from tests.freshet.conftest import Freshet
from workers.job_processes.process_pool import Children
from workers.job_processes.worker import Worker
from workers.queue.enqueue import WorkerContext, tools_of

# Nothing that a refused request leaves behind could change the answer to the next one.
some = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CRON = "30 6 * * *"


@pytest.fixture
def url(migrated_sqlite: Path, tmp_path: Path) -> str:
    file = tmp_path / "freshet.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


@pytest.fixture
def client(url: str) -> Iterator[TestClient]:
    with serving(url) as started:
        yield started


@pytest.fixture
def tools(url: str, tmp_path: Path) -> Iterator[WorkerContext]:
    with tools_of(Settings.load(data=tmp_path, database_url=url, broker_url="memory://")) as opened:
        yield opened


def test_the_api_refuses_jobs_and_schedules(client: TestClient, database: Database) -> None:
    header = bearer(database, "admin")
    created = client.post(
        "/v1/schedules",
        json={"name": "daily", "cron": CRON, "job": {"kind": "forecast", "params": {}}},
        headers=header,
    )
    address, tag = created.headers["Location"], {"If-Match": created.headers["ETag"]}

    @some
    @given(wrong=wrong_requests())
    def refused(wrong: Wrong) -> None:
        job = {"kind": wrong.kind, "params": wrong.params}
        schedule = {"name": "nightly", "cron": CRON, "job": job}
        for answer in (
            client.post("/v1/jobs", json=job, headers=header),
            client.post("/v1/schedules", json=schedule, headers=header),
            client.put(address, json=schedule, headers=header | tag),
        ):
            assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
            assert wrong.name in answer.json()["detail"]

    refused()
    assert [schedule["name"] for schedule in client.get("/v1/schedules", headers=header).json()["schedules"]] == [
        "daily"
    ]
    assert client.get("/v1/jobs", headers=header).json()["jobs"] == []


def test_the_command_line_refuses_schedules(tmp_path: Path) -> None:
    freshet = Freshet(tmp_path)
    assert freshet("keys", "make", "river office").code == 0

    @some
    @given(wrong=wrong_requests())
    def refused(wrong: Wrong) -> None:
        arguments = ("--kind", wrong.kind, "--cron", CRON, "--params", json.dumps(wrong.params))
        answer = freshet("schedules", "add", "daily", *arguments, "--json")
        assert (answer.code, answer.json["problem"]["kind"]) == (2, "invalid-request")
        assert wrong.name in answer.json["problem"]["detail"]

    refused()
    assert freshet("schedules", "list", "--json").json["schedules"] == []


def test_a_worker_fails_a_row_that_somebody_put_into_the_table(tools: WorkerContext) -> None:
    worker = Worker("test", tools, Children(tools.settings))

    @some
    @given(wrong=wrong_requests())
    def refused(wrong: Wrong) -> None:
        assume(wrong.kind not in KINDS or wrong.kind in REQUESTABLE)
        with tools.database.transaction() as session:
            new = jobs.NewJob(kind=wrong.kind, params=wrong.params, queue="default")
            job, _ = jobs.create(session, new, datetime.now(UTC))
        worker.run(job.id)
        with tools.database.reading() as session:
            ended = jobs.get(session, job.id)
        assert (ended.status, ended.attempt, ended.result) == ("failed", 1, None)
        assert ended.problem is not None
        assert ended.problem["kind"] == "invalid-request"
        assert wrong.name in ended.problem["detail"]

    refused()
