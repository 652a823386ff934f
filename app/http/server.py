"""Options of the HTTP server, and the proxies it trusts for client addresses."""

import resource
from typing import Any

from app.http.limits.connections import guarded
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
