"""A reader of a job's events misses none and reads none twice, though the API is killed in between."""

import json
import socket
import time
from collections.abc import Iterator

import httpx2
import pytest

from records.access import keys
from records.jobs import jobs
from testing.jobs.processes import PATIENCE, Shop, end
from testing.parts.forked_parts import ForkedPart
from tests.workers.conftest import training

pytestmark = pytest.mark.extended


def test_events_go_on_where_they_stopped_when_the_api_was_killed(sqlite_shop: Shop) -> None:
    port = _free_port()
    api = sqlite_shop.start("api", "--port", str(port))
    sqlite_shop.worker("default")
    sqlite_shop.worker("training")
    _await(port, api)
    with sqlite_shop.database.transaction() as session:
        _, token = keys.make(session, "reader", "admin", None, sqlite_shop.clock.wall())
    job = sqlite_shop.post("training", **training(members=1))

    read: list[int] = []
    for seq, _ in _events(port, token, job.id, after=0):
        read.append(seq)
        if len(read) == 2:
            end(api)  # in the middle of the stream
            break
    api = sqlite_shop.start("api", "--port", str(port))
    _await(port, api)
    kinds = []
    for seq, data in _events(port, token, job.id, after=read[-1]):
        read.append(seq)
        kinds.append(data.get("status"))

    assert kinds[-1] == "succeeded"
    with sqlite_shop.database.reading() as session:
        assert read == [event.seq for event in jobs.events_after(session, job.id, 0)]


def _events(port: int, token: str, job: str, after: int) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield number and data of a job's events until the stream ends."""
    address = f"http://127.0.0.1:{port}/v1/jobs/{job}/events"
    headers = {"Last-Event-ID": str(after), "Authorization": f"Bearer {token}"}
    seq, data = 0, None
    with httpx2.stream("GET", address, headers=headers, timeout=PATIENCE, trust_env=False) as answer:
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                seq = int(value)
            elif name == "data":
                data = json.loads(value)
            elif not line and data is not None:
                yield seq, data
                data = None


def _await(port: int, api: ForkedPart) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        assert api.poll() is None
        assert time.monotonic() < until
        try:
            if httpx2.get(f"http://127.0.0.1:{port}/health/ready", trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
