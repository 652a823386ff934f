"""What a request costs, in requests of the rate limit, about one for each 10 ms of work; and counting it.

Each address declares what an answer costs at least. An answer whose size the client chooses costs more with each value,
and holds `MAX_VALUES` at most: both are settled before anything is read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote_to_bytes

from anyio import from_thread
from fastapi import Depends, Request
from starlette.routing import compile_path
from starlette.types import Message, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limits import WINDOW_SECONDS, LimitStatus, RequestLimiter, too_many
from app.http.middleware import Middleware, on_start
from app.http.problems import refused
from jobspec.extensions import extensions

PLAIN, HEAVY = 1, 8
DECLARED: Mapping[str, int] = {
    "/": 6,
    "/basins/{basin}": 7,
    "/openapi.json": 6,
    "/v1/basins/{basin}/normals": 6,
} | {path: cost for extension in extensions() for path, cost in extension.costs.items()}
"""Costs of addresses; those of all others are `PLAIN`."""
_FORMATS = re.compile(rb"netcdf|parquet|coverage\+?json", re.IGNORECASE)
"""In `format=` or `Accept`: formats that are costly to write."""
_PATHS = [(compile_path(template)[0], cost) for template, cost in DECLARED.items()]

MAX_VALUES = 100_000
VALUES_PER_REQUEST = 1_000


def declared_cost(scope: Scope) -> int:
    """Return what a request costs at least, by its address and the format that it names."""
    cost = next((cost for path, cost in _PATHS if path.match(scope["path"])), PLAIN)
    named = (unquote_to_bytes(scope["query_string"]), *(value for name, value in scope["headers"] if name == b"accept"))
    return max(cost, HEAVY) if any(_FORMATS.search(text) for text in named) else cost


@dataclass(frozen=True, slots=True)
class Budget:
    """Charges a request for the values of its answer; for endpoints that run in a thread."""

    request: Request

    def spend(self, values: int, field: str, remedy: str) -> None:
        """Charge for values before they are read.

        Raises:
            InvalidRequest: they are more than one answer holds.
            TooManyRequests: the address has spent its rate limit.
        """
        if values > MAX_VALUES:
            raise refused(field, f"the answer would have {values} values, and one holds at most {MAX_VALUES}: {remedy}")
        self.charge(values)

    def charge(self, values: int) -> None:
        """Charge for values of an answer that is bounded otherwise."""
        if cost := values // VALUES_PER_REQUEST:
            status = from_thread.run(self._count, cost)
            self.request.state.requests = status
            if not status.allowed:
                raise too_many(status)

    async def _count(self, cost: int) -> LimitStatus:
        rates: RequestLimiter = self.request.app.state.rates
        return await rates.count("requests", counted_as(address_of(self.request.scope)), cost)


async def _budget(request: Request) -> Budget:
    return Budget(request)


# What the request may ask for.
RequestBudget = Annotated[Budget, Depends(_budget)]


class Throttle(Middleware):
    """Middleware that answers 429 to an address above its rate limit.

    Its headers are those of the IETF draft "RateLimit header fields for HTTP"
    (draft-ietf-httpapi-ratelimit-headers-10).
    """

    exempt = ("/health/",)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
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
