"""Rate limiting, with RateLimit headers.

The headers are those of the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).
"""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.costs import declared_cost
from app.http.limits.rate_limits import WINDOW_SECONDS, LimitStatus, RequestLimiter, too_many
from app.http.middleware import Middleware, on_start

EXEMPT = "/health/"


class Throttle(Middleware):
    """Middleware that answers 429 to an address above its rate limit."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(EXEMPT):
            await self._app(scope, receive, send)
            return
        rates: RequestLimiter = scope["app"].state.rates
        requests = await rates.count("requests", counted_as(address_of(scope)), declared_cost(scope))
        state = scope.setdefault("state", {})
        state["requests"] = requests  # until the endpoint has charged for its values

        def add_headers(start: Message) -> None:
            counted = [state[name] for name in ("requests", "writes") if name in state]
            start["headers"] = [*start["headers"], *_headers(counted)]

        answer = self._app if requests.allowed else answer_to(Request(scope), too_many(requests))
        await answer(scope, receive, on_start(send, add_headers))


def _headers(standings: Sequence[LimitStatus]) -> list[tuple[bytes, bytes]]:
    policies = ", ".join(f'"{limit.name}";q={limit.quota};w={WINDOW_SECONDS}' for limit in standings)
    remaining = ", ".join(f'"{limit.name}";r={limit.remaining};t={limit.seconds}' for limit in standings)
    return [(b"ratelimit-policy", policies.encode()), (b"ratelimit", remaining.encode())]
