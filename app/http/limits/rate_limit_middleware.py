"""Rate limiting, with RateLimit headers.

The headers are those of the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).
"""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limits import WINDOW_SECONDS, LimitStatus, Rates
from app.http.problems import TooManyRequests
from app.http.responses import on_start

EXEMPT = "/health/"


class Throttle:
    """Middleware that answers 429 to an address above its rate limit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT):
            await self._app(scope, receive, send)
            return
        rates: Rates = scope["app"].state.rates
        requests = await rates.count("requests", counted_as(address_of(scope)))

        def add_headers(start: Message) -> None:
            writes: LimitStatus | None = scope.get("state", {}).get("writes")
            start["headers"] = [*start["headers"], *_headers([requests] if writes is None else [requests, writes])]

        answer = self._app if requests.allowed else answer_to(Request(scope), too_many(requests))
        await answer(scope, receive, on_start(send, add_headers))


def too_many(standing: LimitStatus) -> TooManyRequests:
    """Return the problem of an exhausted rate limit."""
    what = {
        "requests": "requests from one address",
        "writes": "writes with one key",
        "failed-keys": "wrong keys from one address",
    }[standing.name]
    return TooManyRequests(
        f"More than {standing.quota} {what} in a minute: try again in {standing.seconds} s.", standing.seconds
    )


def _headers(standings: Sequence[LimitStatus]) -> list[tuple[bytes, bytes]]:
    policies = ", ".join(f'"{limit.name}";q={limit.quota};w={WINDOW_SECONDS}' for limit in standings)
    remaining = ", ".join(f'"{limit.name}";r={limit.remaining};t={limit.seconds}' for limit in standings)
    return [(b"ratelimit-policy", policies.encode()), (b"ratelimit", remaining.encode())]
