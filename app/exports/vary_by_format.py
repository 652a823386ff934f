"""Adds `Vary: Accept` where an address answers in several formats."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class VaryByFormat:
    """Middleware that adds `Vary: Accept` to all answers of addresses with several formats."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and scope.get("state", {}).get("varies"):
                MutableHeaders(raw=message["headers"]).add_vary_header("Accept")
            await send(message)

        await self._app(scope, receive, sent)
