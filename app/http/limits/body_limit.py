"""Around every request: how large its body may be; around every answer: who may keep it."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import TooLarge, answer_to

MIB = 2**20
LARGEST_BODY = MIB
LARGEST_UPLOAD = 20 * MIB
OBSERVATIONS = "/v1/basins/observations"
UPLOADS = (OBSERVATIONS, "/v1/weather")


class BodyLimit:
    """Refuses a body that is too large with 413, as soon as that is known.

    Starlette's `RequestBodyLimitMiddleware` does too, but answers a body that nobody reads in plain text, not with
    problem details that say how much is taken.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = LARGEST_UPLOAD if scope["path"] in UPLOADS else LARGEST_BODY
        # A number that is none is refused by the server before.
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
                raise HTTPException(
                    413, _size_in_words(limit)
                )  # whoever reads the body passes this on, and no other error
            return message

        await self._app(scope, counted, send)


def _size_in_words(limit: int) -> str:
    return f"The body is larger than {limit} bytes, the most that is taken here: send less at once."


class Private:
    """Lets no shared cache keep an answer that needed a key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    (name, value.replace(b"public", b"private") if name == b"cache-control" else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await self._app(scope, receive, sent)
