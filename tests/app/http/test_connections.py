"""Half-open and idle connections are closed, and those of one address do not shut out another's."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from app.http.limits.connections import Timeouts, guarded
from records.database.engine import Database
from runtime.settings import Settings
from tests.app.conftest import PATIENCE, bearer, listening

HEAD = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"
SLOW = 600.0


@contextmanager
def running(url: str, maximum: int = 100, proxies: tuple[str, ...] = (), **seconds: float) -> Iterator[int]:
    """Run the API with a guard, and return its port."""
    settings = Settings(database_url=url, broker_url="memory://")
    protocol = guarded(maximum, proxies, Timeouts(**seconds))
    with listening(settings, http=protocol, log_level="error", timeout_keep_alive=int(SLOW)) as port:
        yield port


def opened(port: int, sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
    """Open a connection from an address of this machine, and send something."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE, source_address=(source, 0))
    connection.sendall(sent)
    return connection


def all_of(connection: socket.socket) -> bytes:
    """Return what is sent until the server closes; fails where it does not."""
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def answered(port: int, source: str = "127.0.0.1") -> bool:
    with opened(port, HEAD + b"Connection: close\r\n\r\n", source) as connection:
        return all_of(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD])
def test_a_request_whose_head_does_not_come_is_given_up(sqlite: str, sent: bytes) -> None:
    with running(sqlite, head=0.5) as port, opened(port, sent) as half_open:
        assert all_of(half_open).startswith(b"HTTP/1.1 408")
        assert answered(port)


def test_bytes_one_by_one_do_not_move_the_deadline(sqlite: str) -> None:
    with running(sqlite, head=1) as port, opened(port, HEAD) as dripping:
        dripping.settimeout(0.05)
        received, until = b"", time.monotonic() + PATIENCE
        while not received:
            assert time.monotonic() < until
            try:
                dripping.sendall(b"X-A: b\r\n")
                received = dripping.recv(65536)
            except TimeoutError:
                continue
        assert received.startswith(b"HTTP/1.1 408")


def test_a_second_request_has_a_deadline_too(sqlite: str) -> None:
    with running(sqlite, head=0.5) as port, opened(port, HEAD + b"\r\n" + HEAD) as connection:
        received = all_of(connection)
    assert received.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in received


def test_a_body_that_does_not_come_is_given_up(sqlite: str, sqlite_database: Database) -> None:
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
    key = f"Authorization: {bearer(sqlite_database)['Authorization']}\r\n".encode()
    with running(sqlite, body=0.5) as port:
        with opened(port, head + key + b"\r\n{") as connection:
            assert all_of(connection).startswith(b"HTTP/1.1 408")
        with opened(port, head + b"\r\n{") as connection:
            received = all_of(connection)
            assert received.startswith(b"HTTP/1.1 401")
            assert received.count(b"HTTP/1.1") == 1  # nothing follows an answer that did not need the body
        assert answered(port)


def test_one_address_does_not_shut_out_another(sqlite: str) -> None:
    with running(sqlite, maximum=5, head=SLOW) as port, ExitStack() as stack:
        half_open = [stack.enter_context(opened(port, HEAD)) for _ in range(5)]
        with opened(port) as one_more:
            assert all_of(one_more).startswith(b"HTTP/1.1 503")
        assert answered(port, "127.0.0.2")
        half_open[0].sendall(b"\r\n")  # those that it holds are still served
        assert half_open[0].recv(65536).startswith(b"HTTP/1.1 200")
        half_open[1].close()
        until = time.monotonic() + PATIENCE
        while not answered(port):  # the place is free again
            assert time.monotonic() < until


def test_a_trusted_proxys_connections_are_not_counted(sqlite: str) -> None:
    with running(sqlite, maximum=1, proxies=("127.0.0.0/8",), head=SLOW) as port, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(opened(port, HEAD))
        assert answered(port)


POST = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
ENDED = b"\r\n0\r\n\r\n"
SMUGGLED = b"GET /v1/basins HTTP/1.1\r\nHost: localhost\r\n\r\n"
AMBIGUOUS = (
    b"Content-Length: 5\r\n" + CHUNKED,
    CHUNKED + b"Content-Length: 5\r\n",
    b"content-length: 0\r\ntransfer-encoding: CHUNKED\r\n",
    b"Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n",  # folded: joined to one line, then refused
    b"Content-Length:\r\n 5\r\n" + CHUNKED,
    b"Content-Length: 5\r\nContent-Length: 6\r\n",
    b"Content-Length: 5, 6\r\n",
    b"Content-Length: 5\r\n 6\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: -5\r\n",
    b"Content-Length: 0x5\r\n",
    b"Content-Length: 1_0\r\n",
    b"Content-Length: \r\n",
    b"Content-Length : 5\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: chunked, identity\r\n",
    b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: \x0bchunked\r\n",
    b"Transfer-Encoding : chunked\r\n",
    CHUNKED + CHUNKED,
    b"X: a\rTransfer-Encoding: chunked\r\n",
    b"X: \x00\r\n",
    b"Host: elsewhere\r\n",
)


def test_a_request_of_ambiguous_length_gets_400_and_the_connection_closes(sqlite: str) -> None:
    old = POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Connection: keep-alive\r\n" + CHUNKED
    with running(sqlite) as port:
        for head in (*(POST + fields for fields in AMBIGUOUS), old):
            with opened(port, head + ENDED + SMUGGLED) as connection:
                received = all_of(connection)
            assert received.startswith(b"HTTP/1.1 400 "), head
            assert b"\r\nconnection: close\r\n" in received.lower(), head
            assert received.count(b"HTTP/1.1 ") == 1, head  # the rest is not a request
        assert answered(port)


def test_a_chunk_without_a_plain_size_ends_the_connection(sqlite: str) -> None:
    with running(sqlite) as port:
        for size in (b"0x0", b"+0", b"-1", b" 0", b"0 0", b"0_0", b""):
            with opened(port, POST + CHUNKED + b"\r\n" + size + b"\r\n\r\n" + SMUGGLED) as connection:
                received = all_of(connection)
            assert received.count(b"HTTP/1.1 ") == 1, size
            assert received.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 401 ")), (size, received)


def test_each_plain_way_to_give_the_length_leaves_the_next_request_alone(sqlite: str) -> None:
    last = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    bodies = (
        b"Content-Length: 2\r\n\r\n{}",
        CHUNKED + b"\r\n2\r\n{}\r\n0\r\n\r\n",
        b"Content-Length: 2, 2\r\n\r\n{}",  # as RFC 9110 8.6 allows
        b"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",  # of X, as RFC 9112 5.2 has it
    )
    with running(sqlite) as port:
        for body in bodies:
            with opened(port, POST + body + last) as connection:
                received = all_of(connection)
            assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"401", b"200"], body
