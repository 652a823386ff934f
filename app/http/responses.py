"""Changes to the beginning of responses, for middleware."""

from collections.abc import Callable

from starlette.types import Message, Send


def on_start(send: Send, change: Callable[[Message], None]) -> Send:
    """Return a `send` that changes the beginning of a response: its status and headers."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(message)
        await send(message)

    return sent
