"""Middleware of every response: request ids, security headers, HEAD, slashes at the end, and compression."""

import re
import secrets
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type
from structlog.contextvars import bound_contextvars


def on_start(send: Send, change: Callable[[Message], None]) -> Send:
    """Return a `send` that changes the beginning of a response: its status and headers."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(message)
        await send(message)

    return sent


log = structlog.get_logger()

HEADER = "X-Request-ID"
FORM = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Allowed request ids of clients and proxies; others are replaced, to protect the log."""
MAX_PATH = 200
_MAIL_TOKEN = re.compile(r"(/mail/[a-z]+/).+", re.DOTALL)
"""A link of e-mail: its token stands for the consent of its recipient."""
_READS = ("GET", "HEAD", "OPTIONS")


class Middleware:
    """Middleware of HTTP requests; all else passes it by. Without `handle` of its own it changes starts of answers."""

    exempt: tuple[str, ...] = ()
    """Beginnings of paths that pass it by."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handles = scope["type"] == "http" and not scope["path"].startswith(self.exempt)
        await (self.handle if handles else self._app)(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, on_start(send, partial(self.change, scope)))

    def change(self, scope: Scope, start: Message) -> None:
        """Change the start of the answer to a request: its status and headers."""


class RequestIds(Middleware):
    """Middleware that gives each request an id: its own, or a new one.

    Requests that write and answers of 500 and more are logged at `info`, all others at `debug`: a 503 among them, whose
    cause is logged, and not once a request.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Headers(scope=scope).get(HEADER, "")
        if not FORM.fullmatch(request):
            request = secrets.token_hex(8)
        status, started = 500, time.perf_counter()

        def add_id(start: Message) -> None:
            nonlocal status
            status = start["status"]
            start["headers"] = [*start["headers"], (HEADER.lower().encode(), request.encode())]

        with bound_contextvars(request=request):
            try:
                await self._app(scope, receive, on_start(send, add_id))
            finally:
                report = log.debug if scope["method"] in _READS and (status < 500 or status == 503) else log.info
                milliseconds = round(1000 * (time.perf_counter() - started), 1)
                report("request.end", method=scope["method"], path=shown_path(scope), status=status, ms=milliseconds)


def shown_path(scope: Scope) -> str:
    """Return the path of a request for a log: at most a line, without control characters and tokens of e-mail."""
    return ascii(_MAIL_TOKEN.sub(r"\1...", scope["path"])[:MAX_PATH])[1:-1]


EVENT_STREAM = "text/event-stream"
CSV = "text/csv"
COVERAGEJSON = "application/prs.coverage+json"
"""Media types with special treatment."""

_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"), (b"x-frame-options", b"DENY"))
_POLICY = b"content-security-policy"
_NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


class SecurityHeaders(Middleware):
    """Middleware that adds security headers to every answer, errors included: what sets no policy may load nothing."""

    def change(self, _scope: Scope, start: Message) -> None:
        own = any(name.lower() == _POLICY for name, _ in start["headers"])
        start["headers"] = [*start["headers"], *_ALWAYS, *(() if own else ((_POLICY, _NOTHING),))]


_READING = ("GET", "HEAD")


class HeadMiddleware(Middleware):
    """Middleware that answers HEAD with the headers of GET, and ends event streams."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as asked:

            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start":
                    await send(message)
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    if Headers(raw=message["headers"]).get("content-type", "").startswith(EVENT_STREAM):
                        asked.cancel()

            await self._app({**scope, "method": "GET"}, receive, sent)


class TrailingSlash(Middleware):
    """Middleware that redirects an address that ends in a slash: relatively, so as not to repeat the Host header."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] in _READING and path.endswith("/") and not path.endswith("//") and path != "/":
            headers = {"location": _without(scope), "cache-control": "no-store"}
            await Response(status_code=308, headers=headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _without(scope: Scope) -> str:
    """Return the address without its last slash, relative to the requested one."""
    path: bytes = scope["raw_path"]
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    return f"../{(path[:-1].rpartition(b'/')[2] + query).decode('latin-1')}"


SMALLEST = 1024
"""Bytes; a smaller answer fits into one packet uncompressed."""

remove_compress_type(EVENT_STREAM)
for _media_type in (CSV, COVERAGEJSON):
    add_compress_type(_media_type)


class Compressed(Middleware):
    """Middleware that compresses with zstd or gzip, and weakens the ETags of compressed answers [RFC 9110, section
    8.8.1].

    A 304 carries `Vary: Accept-Encoding` as the full answer does [section 15.4.5].
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(CompressMiddleware(app, minimum_size=SMALLEST, brotli=False))

    def change(self, _scope: Scope, start: Message) -> None:
        headers = MutableHeaders(raw=start["headers"])
        tag = headers.get("etag")
        if "content-encoding" in headers and tag is not None and not tag.startswith("W/"):
            headers["etag"] = f"W/{tag}"
        if start["status"] == HTTPStatus.NOT_MODIFIED:
            headers.add_vary_header("Accept-Encoding")
