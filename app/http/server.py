"""Options of the HTTP server, the proxies and hosts that it trusts, and the origins of other sites."""

import resource
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.limits.connections import guarded
from app.http.middleware import HEADER, Middleware
from app.http.problems import HostNotAllowed
from runtime.settings import Settings

MAX_OPEN_FILES = 16_384


def raise_limit_of_files() -> None:
    """Let this process open more files, and thus connections, than a shell or systemd lets it by default."""
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if allowed == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, allowed)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))


def options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options: connection limits, and the trusted proxies.

    A trusted proxy's `X-Forwarded-For` becomes the client's address before Freshet sees the request:
    limits, logs and the audit trail all name the same address.
    """
    return {
        "http": guarded(settings.connections_per_address, settings.trusted_proxies),
        "server_header": False,
        # Without this the server itself would trust the address claimed by any local client.
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "log_config": None,  # logging is configured by `runtime.process`
        "log_level": settings.log_level,
        "access_log": False,
        "timeout_graceful_shutdown": 5,
    }


_REFUSED = (
    "The Host header does not name this service: use the address that it listens on, or let an administrator add the "
    "name to FRESHET_ALLOWED_HOSTS."
)

ASKED = ("If-None-Match", HEADER)
EXPOSED_HEADERS = ("Content-Disposition", "ETag", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", HEADER)


class TrustedHosts(Middleware):
    """Middleware that refuses requests whose Host header does not name this service.

    Localhost, loopback addresses and the address that the connection came to are always this service. In `allowed`,
    `*.example.org` is every name below, and `*` is any.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        super().__init__(app)
        self._allowed = [name.lower().strip("[]") for name in allowed]

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_allowed(scope):
            await answer_to(Request(scope), HostNotAllowed(_REFUSED))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        headers = [value for name, value in scope["headers"] if name == b"host"]
        name = _name(headers[0].decode("latin-1")) if len(headers) == 1 else None
        if name is None:
            return False
        if name in self._allowed or "*" in self._allowed or _is_local(name):
            return True
        if scope.get("server") and name == scope["server"][0]:
            return True
        return any(pattern.startswith("*.") and name.endswith(pattern[1:]) for pattern in self._allowed)


def _name(header: str) -> str | None:
    """Return the host name of a Host header, without its port; None if invalid."""
    try:
        parts = urlsplit(f"//{header}")
        port_is_a_number = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    return parts.hostname if port_is_a_number and parts.netloc == header and "@" not in header else None


def _is_local(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def cross_origin(origins: Sequence[str]) -> dict[str, Any]:
    """Return the options of the CORS middleware: reading from these origins, never with cookies or a key."""
    return {
        "allow_origins": list(origins),
        "allow_methods": ["GET", "HEAD"],
        "allow_headers": list(ASKED),
        "expose_headers": list(EXPOSED_HEADERS),
        "allow_credentials": False,
    }
