"""Adds `Vary: Accept` where an address answers in several formats."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.responses import on_start


class VaryByFormat:
    """Middleware that adds `Vary: Accept` to all answers of addresses with several formats."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        def vary(start: Message) -> None:
            if scope.get("state", {}).get("varies"):
                MutableHeaders(raw=start["headers"]).add_vary_header("Accept")

        await self._app(scope, receive, on_start(send, vary))
