"""Request durations of this process, by address template and status."""

import time

from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.responses import on_start

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds."""
NO_ROUTE = "none"
"""Template of unknown addresses, so that clients cannot create metric series."""


def template_of(scope: Scope) -> str:
    """Return the address template of a request, including the router's prefix."""
    template = getattr(scope.get("route"), "path_format", None)
    if template is None:
        return NO_ROUTE
    led_to = template.format(**scope.get("path_params", {}))
    prefix = scope["path"].removesuffix(led_to) if scope["path"].endswith(led_to) else ""
    return f"{prefix}{template}"


class RequestTimes:
    """Histogram of request durations."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "freshet_request_seconds",
            "How long requests took until their answer was sent, by this process.",
            ("method", "route", "status"),
            registry=self.registry,
            buckets=BUCKETS,
        )

    def add(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        route = template_of(scope)
        method = scope["method"] if route != NO_ROUTE else NO_ROUTE
        self._seconds.labels(method, route, str(status)).observe(seconds)


class Timed:
    """Middleware that measures the duration of every request."""

    def __init__(self, app: ASGIApp, times: RequestTimes) -> None:
        self._app, self._times = app, times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        def note(start: Message) -> None:
            nonlocal status
            status = start["status"]

        try:
            await self._app(scope, receive, on_start(send, note))
        finally:
            self._times.add(scope, status, time.perf_counter() - started)
