"""Connections that keep others out: how many an address may hold, and how long a request may take to arrive.

The server itself has no time limit for the head of a request, so a few sockets that say nothing would hold it.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.addresses import counted_as

log = structlog.get_logger()

HEAD_SECONDS = 10.0
BODY_SECONDS = 120.0
"""The largest upload then needs 1.4 Mbit/s."""
STALLED_SECONDS = 60.0
"""How long an answer waits for a client that does not read it."""

_REFUSED = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def guarded(
    most_per_address: int,
    trusted_proxies: Sequence[str] = (),
    *,
    head_seconds: float = HEAD_SECONDS,
    body_seconds: float = BODY_SECONDS,
    stalled_seconds: float = STALLED_SECONDS,
) -> type[H11Protocol]:
    """Return the protocol of one server, which counts the connections of each address but those of its proxies."""
    open_connections: Counter[str] = Counter()

    class Guarded(H11Protocol):
        _address: str | None = None
        _deadline: asyncio.TimerHandle | None = None
        _awaits: object = None
        _stalled: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if self.client is not None and not _is_one_of(self.client[0], trusted_proxies):
                self._address = counted_as(self.client[0])
                open_connections[self._address] += 1
                if open_connections[self._address] > most_per_address:
                    log.warning("connection.refused", address=self._address, open=most_per_address)
                    transport.write(_REFUSED)
                    transport.close()
                    return
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._address is not None:
                open_connections[self._address] -= 1
                if not open_connections[self._address]:
                    del open_connections[self._address]
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
            self._stalled = self.loop.call_later(stalled_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stalled is not None:
                self._stalled.cancel()

        def _watch(self) -> None:
            """Set a deadline when a head or a body begins to be waited for; further bytes do not move it."""
            awaits = self.conn.their_state
            if awaits is self._awaits:
                return
            if self._deadline is not None:
                self._deadline.cancel()
            self._awaits, self._deadline = awaits, None
            seconds = {h11.IDLE: head_seconds, h11.SEND_BODY: body_seconds}.get(awaits)
            if seconds is not None and not self.transport.is_closing():
                self._deadline = self.loop.call_later(seconds, self._give_up)

        def _give_up(self) -> None:
            log.warning("connection.too_slow", address=self._address)
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write(_TOO_SLOW)
            self.transport.close()

    return Guarded


def _is_one_of(address: str, networks: Sequence[str]) -> bool:
    try:
        return any(ip_address(address) in ip_network(network, strict=False) for network in networks)
    except ValueError:
        return False
