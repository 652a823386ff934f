"""Rate limits by address and key, shared by all API processes.

The counts are in the service's Redis or Valkey. If that does not answer, each process counts by itself.
"""

import asyncio
import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import redis
import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import RateLimiter, SlidingWindowCounterRateLimiter

from app.http.problems import TooManyRequests
from runtime.settings import Settings
from workers.queue.broker import counting_url

log = structlog.get_logger()

Name = Literal["requests", "writes", "failed-keys", "sign-ups"]
SIGN_UPS_PER_MINUTE = 3
"""Requests for alerts by e-mail without a key, of an address."""
WINDOW_SECONDS = 60
PATIENCE_SECONDS = 0.25
SECONDS_BETWEEN_TRIES = 5.0


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """The current count against a limit; `quota` is a minute's, `seconds` those until more are allowed."""

    name: Name
    quota: int
    remaining: int
    seconds: int
    allowed: bool


class RequestLimiter:
    """Counts requests, for the lifetime of one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._limits = {
            name: RateLimitItemPerMinute(quota, namespace=f"freshet-{name}")
            for name, quota in (
                ("requests", settings.requests_per_minute),
                ("writes", settings.writes_per_minute),
                ("failed-keys", settings.failed_keys_per_minute),
                ("sign-ups", SIGN_UPS_PER_MINUTE),
            )
        }
        self._own = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._storage = _shared_storage(settings)
        self._shared = None if self._storage is None else SlidingWindowCounterRateLimiter(self._storage)
        self._away_until = 0.0

    async def count(self, name: Name, who: str, cost: int = 1) -> LimitStatus:
        """Count a request, as several if it costs more, and return the status of its limit."""
        if self._shared is not None and time.monotonic() >= self._away_until:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    return await self._hit(self._shared, name, who, cost)
            except (redis.RedisError, OSError) as error:  # a TimeoutError is an OSError
                log.warning("rates.broker_away", error=type(error).__name__)
                self._away_until = time.monotonic() + SECONDS_BETWEEN_TRIES
        return await self._hit(self._own, name, who, cost)

    async def close(self) -> None:
        if self._storage is not None:
            bridge: Any = self._storage.bridge  # which of them is known at run time alone
            await bridge.get_connection().aclose()

    async def _hit(self, limiter: RateLimiter, name: Name, who: str, cost: int) -> LimitStatus:
        limit = self._limits[name]
        allowed = await limiter.hit(limit, who, cost=min(cost, limit.amount))  # any answer can be had once a minute
        stats = await limiter.get_window_stats(limit, who)
        seconds = min(max(1, math.ceil(stats.reset_time - time.time())), WINDOW_SECONDS)
        return LimitStatus(name, limit.amount, stats.remaining, seconds, allowed)


def too_many(standing: LimitStatus) -> TooManyRequests:
    what = {
        "requests": "requests (a costly one counts as several) from one address",
        "writes": "writes with one key",
        "failed-keys": "wrong keys from one address",
        "sign-ups": "requests for alerts by e-mail from one address",
    }[standing.name]
    return TooManyRequests(
        f"More than {standing.quota} {what} in a minute: try again in {standing.seconds} s.", standing.seconds
    )


def _shared_storage(settings: Settings) -> RedisStorage | None:
    url = counting_url(settings)
    if url is None:
        return None
    return RedisStorage(f"async+{url}", implementation="redispy", key_prefix="freshet-limits")
