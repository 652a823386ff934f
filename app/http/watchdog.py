"""Heartbeats of the event loop for the watchdog."""

import anyio

from runtime import watchdog


async def give_signs() -> None:
    """Send heartbeats until cancelled, if a watchdog is active."""
    seconds = watchdog.pause()
    while seconds is not None:
        watchdog.notify(watchdog.LIVES)
        await anyio.sleep(seconds)
