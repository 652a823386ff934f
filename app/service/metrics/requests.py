"""How long requests take, by the template of their address and their status: of this process."""

import time

from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds."""
NO_ROUTE = "none"
"""The template of what leads nowhere: an address from outside names no series."""


def template_of(scope: Scope) -> str:
    """Return the template of the address that a request was led to: a route knows it without its router's prefix."""
    template = getattr(scope.get("route"), "path_format", None)
    if template is None:
        return NO_ROUTE
    led_to = template.format(**scope.get("path_params", {}))
    prefix = scope["path"].removesuffix(led_to) if scope["path"].endswith(led_to) else ""
    return f"{prefix}{template}"


class RequestTimes:
    """The times that requests took, in a registry."""

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
    """Times every request around all that serves it."""

    def __init__(self, app: ASGIApp, times: RequestTimes) -> None:
        self._app, self._times = app, times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._times.add(scope, status, time.perf_counter() - started)
