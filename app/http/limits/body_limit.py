"""Limits the size of request bodies, and protects answers from shared caches."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.middleware import Middleware
from app.http.problems import TooLarge

MIB = 2**20
LARGEST_BODY = MIB
LARGEST_UPLOAD = 20 * MIB
MAX_COMMAS = 50_000
"""Of a body in JSON: each value that cannot be used costs more than a hundred times what its bytes do."""
OBSERVATIONS = "/v1/basins/observations"
UPLOADS = (OBSERVATIONS, "/v1/weather")


class BodyLimit(Middleware):
    """Middleware that refuses a body above the limit with 413, as early as possible.

    Starlette's `RequestBodyLimitMiddleware` does too, but answers an unread body in plain text, not with
    problem details that state the limit.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = LARGEST_UPLOAD if scope["path"] in UPLOADS else LARGEST_BODY
        # An invalid number was refused by the server before.
        declared = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
        if declared > limit:
            await answer_to(Request(scope), TooLarge(_size_in_words(limit)))(scope, receive, send)
            return
        is_json = any(name == b"content-type" and b"json" in value.lower() for name, value in scope["headers"])
        got = commas = 0

        async def counted() -> Message:
            nonlocal got, commas
            message = await receive()
            body = message.get("body", b"")
            got += len(body)
            commas += body.count(b",") if is_json else 0
            # Whoever reads the body passes these on, and no other error.
            if got > limit:
                raise HTTPException(413, _size_in_words(limit))
            if commas > MAX_COMMAS:
                raise HTTPException(413, f"The body holds more than {MAX_COMMAS} values: send fewer at once.")
            return message

        await self._app(scope, counted, send)


def _size_in_words(limit: int) -> str:
    return f"The body exceeds the limit of {limit} bytes: send less at once."


class PrivateCacheMiddleware(Middleware):
    """Middleware that prevents shared caches from storing answers that needed a key."""

    def change(self, _scope: Scope, start: Message) -> None:
        start["headers"] = [
            (name, value.replace(b"public", b"private") if name == b"cache-control" else value)
            for name, value in start["headers"]
        ]
