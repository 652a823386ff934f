"""Request ids: returned in the answer, and added to every log line of the request."""

import re
import secrets
import time

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from app.http.responses import on_start

log = structlog.get_logger()

HEADER = "X-Request-ID"
FORM = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Allowed request ids of clients and proxies; others are replaced, to protect the log."""
MAX_PATH = 200
_MAIL_TOKEN = re.compile(r"(/mail/[a-z]+/).+", re.DOTALL)
"""A link of e-mail: its token stands for the consent of its recipient."""
_READS = ("GET", "HEAD", "OPTIONS")


class RequestIds:
    """Middleware that gives each request an id: its own, or a new one.

    Requests that write and answers of 500 and more are logged at `info`, all others at `debug`: a 503 among them, whose
    cause is logged, and not once a request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, status, started = _id_of(scope), 500, time.perf_counter()

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


def _id_of(scope: Scope) -> str:
    given = Headers(scope=scope).get(HEADER, "")
    return given if FORM.fullmatch(given) else secrets.token_hex(8)
