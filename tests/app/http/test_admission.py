"""More requests than the service can work on wait shortly, or are answered 503; none waits for what another holds."""

import asyncio
import gc
import json
import re
import socket
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from app.http.limits.admission import SECONDS_BETWEEN_REFUSALS, Admission, AdmissionControl, Places
from app.http.server import options
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_job
from tests.app.conftest import PATIENCE, bearer, listening, serving
from tests.openapi import paths

CROWD = 40
PAGES = (
    *("/", "/jobs", "/jobs/{job}", "/schedules", "/feeds", "/held", "/compare", "/models", "/status", "/alerts"),
    *(f"/basins/{{basin}}{part}" for part in ("", "/levels", "/adjust", "/adjusted", "/what-if")),
    *("/deliveries", "/adjustments/{adjustment}", "/comparisons/{comparison}", "/guide", "/openapi.json"),
)
NAMES = re.compile(r"\{([a-z_]+)(:path)?\}")


@contextmanager
def crowded(url: str, **chosen: Any) -> Iterator[int]:
    """Run the API with the options of the service, and give its port."""
    settings = Settings(database_url=url, broker_url="memory://", as_of=NOW, **chosen)
    with listening(settings, **options(settings) | {"log_level": "error"}) as port:
        yield port


def opened(port: int, path: str, fields: str = "") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n".encode())
    return connection


def answer_of(connection: socket.socket) -> tuple[int, str, bytes]:
    """Read an answer: its status, its head and its body."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), head.decode(), body


@pytest.mark.extended
def test_a_crowd_is_answered_or_refused_and_never_silent(database: Database, database_url: str) -> None:
    with database.transaction() as session:
        a_basin(session)
    with crowded(database_url, requests_at_once=2) as port:
        for path in ("/", "/v1/basins", f"/basins/{BASIN}", f"/v1/edr/collections/forecasts/locations/{BASIN}"):
            with ExitStack() as stack:
                crowd = [stack.enter_context(opened(port, path)) for _ in range(CROWD)]
                with opened(port, "/health/live") as probe:
                    assert answer_of(probe)[0] == 200
                answers = [answer_of(connection) for connection in crowd]
            refused = [(head, body) for status, head, body in answers if status == 503]
            assert {status for status, _, _ in answers} <= {200, 404, 503}  # 404: there is no forecast
            assert len(refused) <= CROWD - 2, path
            for head, body in refused:
                assert json.loads(body)["type"] == "/problems/overloaded"
                assert "retry-after: 5" in head.lower()


def test_liveness_and_files_of_pages_need_no_place(sqlite: str) -> None:
    with serving(sqlite) as client:
        client.app.state.places = Places(0, max_waiting=0)  # type: ignore[attr-defined]
        for path in ("/", "/v1/basins", "/v1/nothing", "/health/ready", "/openapi.json"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded"), path
            assert refused.headers["Retry-After"] == "5"
            assert refused.headers["Content-Type"] == "application/problem+json"
        for path in ("/health/live", "/static/pages.css"):
            assert client.get(path).status_code == 200, path
            assert client.head(path).status_code == 200, path


def test_no_operation_takes_a_second_connection(sqlite: str, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        names = {"basin": BASIN, "job": a_job(session), "collection": "forecasts", "threshold": "flood"}
    with serving(sqlite, requests_at_once=1) as client:
        client.headers.update(bearer(sqlite_database, "admin"))
        asked = [(method, path) for path, methods in paths().items() for method in methods]
        for method, path in [*asked, *(("get", page) for page in PAGES)]:
            address = NAMES.sub(lambda found: names.get(found[1], "01a1fa2ab3c4d50b5f2e91"), path)
            if path == "/v1/jobs/{job}/events":
                address = address.replace(names["job"], "nothing")  # a stream goes on until its job ends
            answer = client.request(method, address, json={} if method != "get" else None)
            assert answer.status_code < 500, (method, address, answer.text)


def test_what_waits_for_its_client_holds_no_place(sqlite: str, sqlite_database: Database) -> None:
    (key,) = bearer(sqlite_database).values()
    with sqlite_database.transaction() as session:
        job = a_job(session)
    upload = "POST /v1/basins/observations HTTP/1.1\r\nContent-Type: text/csv"
    post = "POST /v1/jobs HTTP/1.1\r\nContent-Type: application/json"
    with crowded(sqlite, requests_at_once=1) as port, ExitStack() as stack:
        for head in (upload, post):
            waiting = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            fields = f"Host: localhost\r\nAuthorization: {key}\r\nContent-Length: 9"
            waiting.sendall(f"{head}\r\n{fields}\r\n\r\n{{".encode())
        stream = stack.enter_context(opened(port, f"/v1/jobs/{job}/events", f"Authorization: {key}\r\n"))
        assert stream.recv(100).startswith(b"HTTP/1.1 200")
        for path in ("/v1/basins", "/", "/v1/status"):
            with opened(port, path) as other:
                assert answer_of(other)[0] == 200, path


def test_a_refused_connection_gets_its_answer_though_its_request_is_not_read(sqlite: str) -> None:
    with crowded(sqlite, connections_per_address=1) as port, opened(port, "/v1/basins") as first:
        with opened(port, "/v1/basins", f"X-Long: {'a' * 60_000}\r\n") as second:
            status, head, body = answer_of(second)
        assert (status, json.loads(body)["type"]) == (503, "/problems/overloaded")
        assert "retry-after: " in head.lower()
        assert answer_of(first)[0] == 200


def test_addresses_take_turns_and_the_longest_queue_is_cut() -> None:
    async def answered() -> tuple[list[str], list[str]]:
        places = Places(1, max_waiting=3)
        served: list[str] = []
        refused: list[str] = []

        async def ask(name: str) -> None:
            admission = Admission([places], name[0])
            if not await admission.enter():
                refused.append(name)
                return
            served.append(name)
            await asyncio.sleep(0)
            admission.leave()

        await asyncio.gather(*(ask(name) for name in ("a1", "a2", "a3", "a4", "a5", "b1", "c1", "b2")))
        await ask("a6")  # no place was lost
        return served, refused

    served, refused = asyncio.run(answered())
    assert served == ["a1", "a2", "b1", "c1", "a6"]
    assert refused == ["a5", "a4", "b2", "a3"] or sorted(refused) == ["a3", "a4", "a5", "b2"]


def test_who_goes_or_waits_too_long_leaves_no_place_taken() -> None:
    async def left() -> None:
        places = Places(1, patience=0.0)
        inside, late, gone = (Admission([places], name) for name in "abc")
        assert await inside.enter()
        assert not await late.enter()
        waiting = asyncio.create_task(gone.enter())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        granted = asyncio.create_task(Admission([places], "d").enter())
        await asyncio.sleep(0)
        inside.leave()  # the place is passed on
        granted.cancel()  # to a client that goes at the same time
        await asyncio.gather(granted, return_exceptions=True)
        inside.leave()  # a second time: without effect
        async with asyncio.timeout(PATIENCE):
            assert await Admission([places], "e").enter()
        assert not await Admission([places], "f").enter()

    asyncio.run(left())


class _Scope(dict[str, Any]):
    """A scope whose end can be seen."""


def test_a_refused_request_leaves_nothing_for_the_garbage_collector() -> None:
    async def sent(_: object) -> None: ...

    async def refused() -> weakref.ref[_Scope]:
        state = SimpleNamespace(places=Places(0, patience=0.0))
        scope = _Scope(
            type="http", path="/", query_string=b"", headers=[], client=None, app=SimpleNamespace(state=state)
        )
        await AdmissionControl(sent)(scope, sent, sent)  # type: ignore[arg-type]
        return weakref.ref(scope)

    gc.disable()
    try:
        assert asyncio.run(refused())() is None
    finally:
        gc.enable()


def test_a_crowd_that_came_together_is_not_refused_together() -> None:
    places = Places(0, max_waiting=50, patience=1.0)
    refused = [places.refusal_time(100.0) for _ in range(200)]
    apart = [later - earlier for earlier, later in pairwise(refused[:50])]
    assert apart == pytest.approx([SECONDS_BETWEEN_REFUSALS] * 49)
    assert refused[0] == 101.0
    assert max(refused) == pytest.approx(101.0 + 50 * SECONDS_BETWEEN_REFUSALS)  # nobody waits longer than all who may
    assert places.refusal_time(200.0) == 201.0
