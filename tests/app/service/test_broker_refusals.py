"""A broker that answers PING and refuses to be written is reported, with its own remedy; jobs wait until it is well."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from starlette.testclient import TestClient

from app.service import health
from records.database.engine import Database
from records.jobs import jobs, queues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.processes import free_port
from testing.valkey import Broker
from tests.app.conftest import bearer, serving
from workers.queue.broker import write_refusal
from workers.queue.enqueue import Sender

Change = Callable[[Any], object]

FAULTS: dict[str, tuple[Change, Change, str]] = {
    "memory": (
        lambda b: b.config_set("maxmemory", 1),
        lambda b: b.config_set("maxmemory", 0),
        "It answered: command not allowed",
    ),
    "replica": (lambda b: b.replicaof("127.0.0.1", 1), lambda b: b.replicaof("NO", "ONE"), "is a replica"),
    "replicas": (
        lambda b: b.config_set("min-replicas-to-write", 1),
        lambda b: b.config_set("min-replicas-to-write", 0),
        "too few replicas",
    ),
    "permission": (
        lambda b: b.execute_command("ACL", "SETUSER", "default", "-@write"),
        lambda b: b.execute_command("ACL", "SETUSER", "default", "+@all"),
        "does not permit its user to write",
    ),
    "keys": (
        lambda b: b.execute_command("ACL", "SETUSER", "default", "resetkeys", "~others:*"),
        lambda b: b.execute_command("ACL", "SETUSER", "default", "allkeys"),
        "does not permit its user to write",
    ),
    "password": (
        lambda b: (b.config_set("requirepass", "secret"), b.client_kill_filter(_type="normal", skipme=True)),
        lambda b: b.config_set("requirepass", ""),
        "does not accept the password",
    ),
}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """An operator's Valkey."""
    started = Broker(tmp_path, free_port())
    started.start()
    with redis.Redis.from_url(started.url) as client:
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.02)
    yield started
    started.kill()


def degradations(client: TestClient) -> dict[str, str]:
    return {each["code"]: each["sentence"] for each in client.get("/v1/status").json()["degraded"]}


def test_a_broker_that_refuses_to_be_written_is_reported_until_it_is_well(
    sqlite: str, sqlite_database: Database, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0.0)
    settings, clock = Settings(database_url=sqlite, broker_url=broker.url), Clock()
    with serving(sqlite, broker_url=broker.url) as client, redis.Redis.from_url(broker.url) as admin:
        header = bearer(sqlite_database)
        admin.ping()
        for name, (harm, mend, words) in FAULTS.items():
            assert "no-broker" not in degradations(client), name
            harm(admin)
            sentence = degradations(client)["no-broker"]
            assert words in sentence, name
            assert "jobs are stored, and sent to the workers afterwards" in sentence
            assert "secret" not in sentence
            assert "no-broker" in client.get("/health/ready").json()["degraded"]
            assert 'freshet_degraded{code="no-broker"} 1.0' in client.get("/metrics", headers=header).text
            posted = client.post("/v1/jobs", json={"kind": "forecast", "params": {}}, headers=header).json()
            assert (posted["status"], posted["sent_at"]) == ("queued", None), name
            mend(admin)
            assert "no-broker" not in degradations(client), name
            sender = Sender(settings, sqlite_database, clock)
            with sqlite_database.reading() as session:
                (waiting,) = queues.unsent(session)
            sender.send(waiting)
            sender.close()
            with sqlite_database.reading() as session:
                assert jobs.get(session, posted["id"]).sent_at is not None
        assert 0 < admin.ttl("freshet-trial") <= 60
        assert admin.llen("freshet-trial") == 1


def test_a_broker_of_another_user_and_one_that_is_away_have_remedies_of_their_own(broker: Broker) -> None:
    wrong = broker.url.replace("redis://", "redis://freshet:wrong@")
    for url, words in ((wrong, "does not accept the password"), ("redis://127.0.0.1:1/0", "does not answer")):
        refusal = write_refusal(Settings(broker_url=url))
        assert refusal is not None
        assert refusal.cause.startswith(words)
        assert "wrong" not in refusal.remedy
    assert write_refusal(Settings(broker_url=broker.url)) is None
    assert write_refusal(Settings(broker_url="memory://")) is None
