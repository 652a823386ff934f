"""Limits connections per address and the time that a request may take to arrive.

It is our own because the server, uvicorn, has no time limit for the head of a request, so a few silent sockets would
block it. Nor does it refuse a request whose length is given twice, which a proxy may read differently (request
smuggling).
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, cast

import h11
import structlog
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.http.limits.addresses import counted_as
from app.http.problems import MEDIA_TYPE, Overloaded, details_of

log = structlog.get_logger()

_REFUSAL = details_of(
    Overloaded.kind,
    Overloaded.status,
    "Your address, or all clients together, have as many connections open as they may: close some, and try again.",
    "",
    None,
).model_dump_json(exclude_unset=True)
_REFUSED = (
    f"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: {Overloaded.seconds}\r\n"
    f"Content-Type: {MEDIA_TYPE}\r\nContent-Length: {len(_REFUSAL)}\r\n\r\n{_REFUSAL}"
).encode()
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


RESERVED_FILES = 200
"""Open files that connections leave for the database, templates and logs."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of a server for its clients, seconds.

    Attributes:
        body: for its body; the largest upload then needs 1.4 Mbit/s.
        stalled: for a client that does not read its answer.
        refused: for the request of a refused client: closing before it came would take the answer away.
    """

    head: float = 10.0
    body: float = 120.0
    stalled: float = 60.0
    refused: float = 1.0


class ConnectionLimiter:
    """Counts connections at one server, all together and by address; proxies are exempt from the limit of an address.

    `most_of_all` is as many as the process may open files, but for some.
    """

    def __init__(self, max_per_address: int, proxies: Sequence[str]) -> None:
        self.most = max_per_address
        self.most_of_all = max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - RESERVED_FILES)
        self._proxies = [ip_network(proxy) for proxy in proxies]
        self._taken: Counter[str] = Counter()

    def limits(self, address: str) -> bool:
        """Return whether connections from an address are limited."""
        parsed = ip_address(address)
        return not any(parsed in proxy for proxy in self._proxies)

    def acquire(self, client: str) -> bool:
        """Count a new connection of a client, and return whether it is within the limits."""
        address = counted_as(client)
        self._taken[address] += 1
        is_within = not client or not self.limits(client) or self._taken[address] <= self.most
        return is_within and self._taken.total() <= self.most_of_all

    def release(self, client: str) -> None:
        address = counted_as(client)
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]


def guarded(
    max_per_address: int, trusted_proxies: Sequence[str] = (), patience: Timeouts = Timeouts()
) -> type[H11Protocol]:
    """Return a server protocol that limits connections by address, except those of proxies."""
    places = ConnectionLimiter(max_per_address, trusted_proxies)
    return type("GuardedOfOneServer", (LimitedProtocol,), {"places": places, "patience": patience})


class _OneLength(h11.Connection):
    """An HTTP connection that refuses requests with an ambiguous body length (RFC 9112, 6.1)."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
                raise h11.RemoteProtocolError("The length of the body is ambiguous.")
        return event


class _JoinedWrites:
    """A transport that sends together what is written in one turn of the event loop, as head and body of an answer.

    After each sending the event loop waits for the interpreter's lock, long where other threads compute.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pending: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._pending:
            self._loop.call_soon(self._send)
        self._pending.append(data)

    def write_eof(self) -> None:
        self._send()
        self._transport.write_eof()

    def close(self) -> None:
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send(self) -> None:
        written, self._pending = b"".join(self._pending), []
        if written:
            self._transport.write(written)


class LimitedProtocol(H11Protocol):
    """A connection with a per-address limit and read timeouts."""

    places: ConnectionLimiter
    patience: Timeouts
    _address = ""  # of the client; empty for a Unix socket
    _is_refused = False
    _awaits: object = None  # the state of h11 that `_deadline` waits for
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def __init__(self, config: Config, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        size = config.h11_max_incomplete_event_size
        self.conn = _OneLength(h11.SERVER, *(() if size is None else (size,)))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, _JoinedWrites(transport, self.loop)))
        self._address = self.client[0] if self.client else ""
        if self.places.acquire(self._address):
            self._watch()
        else:
            self._refuse()

    def connection_lost(self, exc: Exception | None) -> None:
        self.places.release(self._address)
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.patience.stalled, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def _refuse(self) -> None:
        """Answer that there are too many connections, and read on until the client has closed or had time to."""
        log.warning("connection.refused", address=self._address, open=self.places.most)
        self._is_refused = True
        self.transport.write(_REFUSED)
        self.transport.write_eof()
        self._deadline = self.loop.call_later(self.patience.refused, self.transport.close)

    def _watch(self) -> None:
        """Set a deadline when waiting for a head or a body; further bytes do not move it."""
        awaits = self.conn.their_state
        if awaits is self._awaits:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaits, self._deadline = awaits, None
        seconds = {h11.IDLE: self.patience.head, h11.SEND_BODY: self.patience.body}.get(awaits)
        if seconds is not None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        log.warning("connection.too_slow", address=self._address)
        begins = self.cycle is not None and self.cycle.response_started
        started = begins and (self._awaits is h11.SEND_BODY or not self.cycle.response_complete)
        self.transport.write(b"" if started else _TOO_SLOW)
        self.transport.close()
