"""Raw bytes that a server sends: to a feed, to a download, to the sender of webhooks."""

import socket
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from threading import Thread

from benchmarks.fuzz.target import Target, scratch
from ingestion import download
from ingestion.feeds.http import Service, parsed
from jobspec.addresses import HostPort
from operations.alerts.deliver import content_of, post
from records.alerts.alert_changes import Change, NewChange
from records.alerts.subscriptions import Subscription
from records.database.stored import as_values
from runtime.settings import Settings

NOW = datetime(2026, 11, 22, 14, tzinfo=UTC)
_SILENCE = 2.0  # seconds that a client may send nothing


class Peer:
    """A server on loopback that sends the same bytes to whoever connects, and hangs up."""

    def __init__(self) -> None:
        self.content = b""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        Thread(target=self._serve, daemon=True).start()

    @property
    def allowed(self) -> list[HostPort]:
        """Its host and port, as a setting allows them."""
        return [("127.0.0.1", self.port)]

    def url(self, path: str = "") -> str:
        """Return an address of it."""
        return f"http://127.0.0.1:{self.port}{path}"

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                connection.settimeout(_SILENCE)
                try:
                    connection.recv(65_536)
                    connection.sendall(self.content)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:  # the client has hung up
                    continue


@cache
def peer() -> Peer:
    """Return the server of this process."""
    return Peer()


def _read_answer(content: bytes) -> None:
    peer().content = content
    Service(peer().url(), "a-key", "A_KEY", peer().allowed, lambda _seconds: None).read(parsed, "/data")


def _read_download(content: bytes) -> None:
    peer().content = content
    download._fetch_part.retry.sleep = lambda _seconds: None
    download.fetch(peer().url("/archive.zip"), scratch() / "downloads", allowed=peer().allowed)


def _read_receipt(content: bytes) -> None:
    peer().content = content
    subscription = Subscription(
        id="hook",
        key_id="key",
        url=peer().url("/hook"),
        basins=None,
        least_severity="advisory",
        about="alerts",
        generation=1,
        rotated_at=None,
        created_at=NOW,
    )
    new = NewChange(kind="promotion", at=NOW, basin_id="OWN-mill", version_id="a", why="As it was.")
    change = Change(**as_values(new), seq=1, id="1", message="1")
    settings = Settings(data=scratch(), webhook_hosts=tuple(peer().allowed))
    message = content_of(settings, subscription, [change], "The mill")
    post(settings, b"0" * 32, subscription, change.id, message, at=NOW, patience=5.0)


def _answers(*heads: str) -> Callable[[], list[bytes]]:
    return lambda: [head.replace("\n", "\r\n").encode() for head in heads]


_WORDS = ("HTTP/1.1 ", "HTTP/1.0 ", "Content-Length: ", "Transfer-Encoding: chunked", "Location: ", "Retry-After: ")
_WHOLE = 'HTTP/1.1 200 OK\nContent-Length: 8\nETag: "v1"\n\n{"a": 1}'
_CHUNKED = 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n8\n{"a": 1}\n0\n\n'
_AWAY = "HTTP/1.1 302 Found\nLocation: /elsewhere\nContent-Length: 0\n\n"
_BUSY = 'HTTP/1.1 429 Too Many\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\n\n{"reason": "Minutely limit"}'
_PART = 'HTTP/1.1 206 Partial Content\nContent-Range: bytes 4-7/8\nETag: "v1"\nContent-Length: 4\n\n": 1'

TARGETS = {
    "http-answer": Target(
        _read_answer, _answers(_WHOLE, _CHUNKED, _AWAY, _BUSY), (*_WORDS, "X-RateLimit-Remaining: 0")
    ),
    "http-download": Target(
        _read_download, _answers(_WHOLE, _CHUNKED, _AWAY, _PART), (*_WORDS, "Content-Range: bytes ", "ETag: ")
    ),
    "webhook-answer": Target(_read_receipt, _answers(_WHOLE, _CHUNKED, _AWAY, _BUSY), _WORDS),
}
