"""HEAD requests at every address that has GET: the same headers, without a body."""

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.headers import EVENT_STREAM


class HeadMiddleware:
    """Middleware that answers HEAD with the headers of GET, and ends event streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
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
