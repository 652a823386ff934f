"""Security headers. HSTS is left to the proxy that terminates TLS."""

import base64
import hashlib
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

EVENT_STREAM = "text/event-stream"
CSV = "text/csv"
COVERAGEJSON = "application/prs.coverage+json"
"""Media types with special treatment."""

_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)
_POLICY = b"content-security-policy"
_NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_OWN_ASSETS = (
    f"{_NOTHING}; connect-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'"
)
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


class SecurityHeaders:
    """Middleware that adds security headers to every answer, errors included.

    The page of API documentation may load this service's files and run its inline scripts, which are
    allowed by their hashes. Other pages set their own policy, and any other answer may load nothing.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        page: Message | None = None  # the beginning of a page, held back until its scripts are known

        async def send_with_headers(message: Message) -> None:
            nonlocal page
            if message["type"] == "http.response.start":
                if _is_page(message):
                    page = message
                    return
                _add(message, _NOTHING)
            elif page is not None:
                _add(page, _policy(message.get("body", b"")))
                await send(page)
                page = None
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _is_page(message: Message) -> bool:
    headers = {name.lower(): value for name, value in message["headers"]}
    return headers.get(b"content-type", b"").startswith(b"text/html") and _POLICY not in headers


def _policy(page: bytes) -> str:
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _INLINE.findall(page)]
    return _OWN_ASSETS + "".join(f" 'sha256-{digest}'" for digest in hashes)


def _add(message: Message, policy: str) -> None:
    own = any(name.lower() == _POLICY for name, _ in message["headers"])
    added = () if own else ((_POLICY, policy.encode()),)
    message["headers"] = [*message["headers"], *_ALWAYS, *added]
