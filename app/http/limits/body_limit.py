"""Limits the size of request bodies, and protects answers from shared caches."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.problems import TooLarge
from app.http.responses import on_start

MIB = 2**20
LARGEST_BODY = MIB
LARGEST_UPLOAD = 20 * MIB
OBSERVATIONS = "/v1/basins/observations"
UPLOADS = (OBSERVATIONS, "/v1/weather")


class BodyLimit:
    """Middleware that refuses a body above the limit with 413, as early as possible.

    Starlette's `RequestBodyLimitMiddleware` does too, but answers an unread body in plain text, not with
    problem details that state the limit.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = LARGEST_UPLOAD if scope["path"] in UPLOADS else LARGEST_BODY
        # An invalid number was refused by the server before.
        declared = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
        if declared > limit:
            await answer_to(Request(scope), TooLarge(_size_in_words(limit)))(scope, receive, send)
            return
        got = 0

        async def counted() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > limit:
                # Whoever reads the body passes this on, and no other error.
                raise HTTPException(413, _size_in_words(limit))
            return message

        await self._app(scope, counted, send)


def _size_in_words(limit: int) -> str:
    return f"The body exceeds the limit of {limit} bytes: send less at once."


class Private:
    """Middleware that prevents shared caches from storing answers that needed a key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        await self._app(scope, receive, on_start(send, _make_private))


def _make_private(start: Message) -> None:
    start["headers"] = [
        (name, value.replace(b"public", b"private") if name == b"cache-control" else value)
        for name, value in start["headers"]
    ]
