"""The HTTP server of the API, and whom it believes about where a request comes from."""

from typing import Any

from app.http.limits.connections import guarded
from runtime.settings import Settings


def options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn that guard its connections and let it believe the named proxies alone.

    What a named proxy says in `X-Forwarded-For` becomes the client of a request, before anything of Freshet sees it:
    limits, logs and the audit trail all name the same address.
    """
    return {
        "http": guarded(settings.connections_per_address, settings.trusted_proxies),
        "server_header": False,
        # Without this the server itself would believe whatever a local client says of its address.
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "log_config": None,  # its lines are those of every other library: `runtime.logs`
        "log_level": settings.log_level,
        "access_log": False,
        "timeout_graceful_shutdown": 5,
    }
