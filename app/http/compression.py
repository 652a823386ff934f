"""Compresses responses and weakens their ETags.

Event streams are not compressed, so that each event is sent at once; nor are files that are already compressed.
"""

from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from app.http.headers import COVERAGEJSON, CSV, EVENT_STREAM
from app.http.responses import on_start

SMALLEST = 1024
"""Bytes; a smaller answer fits into one packet uncompressed."""

remove_compress_type(EVENT_STREAM)
for _media_type in (CSV, COVERAGEJSON):
    add_compress_type(_media_type)


class Compressed:
    """Middleware that compresses with zstd or gzip, and weakens the ETags of compressed answers [RFC 9110, section
    8.8.1].

    A 304 carries `Vary: Accept-Encoding` as the full answer does [section 15.4.5].
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = CompressMiddleware(app, minimum_size=SMALLEST, brotli=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, on_start(send, _weaken))


def _weaken(start: Message) -> None:
    headers = MutableHeaders(raw=start["headers"])
    tag = headers.get("etag")
    if "content-encoding" in headers and tag is not None and not tag.startswith("W/"):
        headers["etag"] = f"W/{tag}"
    if start["status"] == HTTPStatus.NOT_MODIFIED:
        headers.add_vary_header("Accept-Encoding")
