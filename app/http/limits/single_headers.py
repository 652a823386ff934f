"""Refuses requests with two headers of a name that may stand once: a proxy may let another of them count."""

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.middleware import Middleware
from app.http.problems import RepeatedHeader

SINGLE = (
    "Authorization",
    "Content-Length",
    "Content-Type",
    "Host",
    "Idempotency-Key",
    "If-Match",
    "If-Range",
    "Last-Event-ID",
    "Origin",
    "Range",
    "X-Api-Key",
)


class SingleHeaders(Middleware):
    """Middleware that refuses a request with two headers of a name that may stand once."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = [name for name, _ in scope["headers"]]
        repeated = [name for name in SINGLE if sent.count(name.lower().encode()) > 1]
        if repeated:
            sentence = (
                f"The header {repeated[0]} was sent more than once, so that it is not clear which counts: send one."
            )
            await answer_to(Request(scope), RepeatedHeader(sentence))(scope, receive, send)
        else:
            await self._app(scope, receive, send)
