"""Requests to read: HEAD wherever there is GET, and addresses with a slash at their end."""

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.headers import EVENT_STREAM

_READING = ("GET", "HEAD")


class HeadMiddleware:
    """Middleware that answers HEAD with the headers of GET, and ends event streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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


class TrailingSlash:
    """Middleware that redirects an address that ends in a slash: relatively, so as not to repeat the Host header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _READING and _ends_with_slash(scope["path"]):
            headers = {"location": _without(scope), "cache-control": "no-store"}
            await Response(status_code=308, headers=headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _ends_with_slash(path: str) -> bool:
    return path.endswith("/") and not path.endswith("//") and path != "/"


def _without(scope: Scope) -> str:
    """Return the address without its last slash, relative to the requested one."""
    path: bytes = scope["raw_path"]
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    return f"../{(path[:-1].rpartition(b'/')[2] + query).decode('latin-1')}"
