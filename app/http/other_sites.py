"""Pages of other sites: the check of the Host header against DNS rebinding, and CORS for what needs no key."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.error_answers import answer_to
from app.http.middleware import HEADER
from app.http.problems import HostNotAllowed

_REFUSED = (
    "The Host header does not name this service: use the address that it listens on, or let an administrator add the "
    "name to FRESHET_ALLOWED_HOSTS."
)

ASKED = ("If-None-Match", HEADER)
EXPOSED_HEADERS = ("Content-Disposition", "ETag", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", HEADER)


class TrustedHosts:
    """Middleware that refuses requests whose Host header does not name this service.

    Localhost, loopback addresses and the address that the connection came to are always this service. In `allowed`,
    `*.example.org` is every name below, and `*` is any.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self._app, self._allowed = app, [name.lower().strip("[]") for name in allowed]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_allowed(scope):
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
