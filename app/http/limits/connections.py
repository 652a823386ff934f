"""Limits connections per address and the time that a request may take to arrive.

It is our own because the server, uvicorn, has no time limit for the head of a request, so a few silent sockets would
block it. Nor does it refuse a request whose length is given twice, which a proxy may read differently (request
smuggling).
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import h11
import structlog
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.http.limits.addresses import counted_as

log = structlog.get_logger()

_REFUSED = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts of a server for its clients, seconds.

    Attributes:
        head: for the head of a request.
        body: for its body; the largest upload then needs 1.4 Mbit/s.
        stalled: for a client that does not read its answer.
    """

    head: float = 10.0
    body: float = 120.0
    stalled: float = 60.0


class ConnectionLimiter:
    """Counts connections at one server by address; proxies are exempt."""

    def __init__(self, max_per_address: int, proxies: Sequence[str]) -> None:
        self.most = max_per_address
        self._proxies = [ip_network(proxy) for proxy in proxies]
        self._taken: Counter[str] = Counter()

    def counts(self, address: str) -> bool:
        """Return whether connections from an address are counted."""
        parsed = ip_address(address)
        return not any(parsed in proxy for proxy in self._proxies)

    def acquire(self, address: str) -> bool:
        """Count a new connection, and return whether the address is within its limit."""
        self._taken[address] += 1
        return self._taken[address] <= self.most

    def release(self, address: str) -> None:
        """Count one connection less."""
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]


def guarded(
    max_per_address: int, trusted_proxies: Sequence[str] = (), patience: Patience = Patience()
) -> type[H11Protocol]:
    """Return a server protocol that limits connections by address, except those of proxies."""
    places = ConnectionLimiter(max_per_address, trusted_proxies)
    return type("GuardedOfOneServer", (_Guarded,), {"places": places, "patience": patience})


class _OneLength(h11.Connection):
    """An HTTP connection that refuses requests with an ambiguous body length (RFC 9112, 6.1)."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event, as h11 does.

        Raises:
            RemoteProtocolError: the data are not HTTP, or their length is ambiguous.
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
                raise h11.RemoteProtocolError("The length of the body is ambiguous.")
        return event


class _Guarded(H11Protocol):
    """A connection with a per-address limit and read timeouts."""

    places: ConnectionLimiter
    patience: Patience
    _address: str | None = None  # the address this connection is counted for
    _awaits: object = None  # the state of h11 that `_deadline` waits for
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def __init__(self, config: Config, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        size = config.h11_max_incomplete_event_size
        self.conn = _OneLength(h11.SERVER, *(() if size is None else (size,)))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._takes_place():
            self._watch()
        else:
            log.warning("connection.refused", address=self._address, open=self.places.most)
            self._end_with(_REFUSED)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is not None:
            self.places.release(self._address)
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
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

    def _takes_place(self) -> bool:
        if self.client is None or not self.places.counts(self.client[0]):
            return True
        self._address = counted_as(self.client[0])
        return self.places.acquire(self._address)

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
        started = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        self._end_with(b"" if started else _TOO_SLOW)

    def _end_with(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()
