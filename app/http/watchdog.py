"""Signs of life of the event loop: one that hangs gives none."""

import anyio

from runtime import watchdog


async def give_signs() -> None:
    """Give signs of life until cancelled, where somebody waits for them."""
    seconds = watchdog.pause()
    while seconds is not None:
        watchdog.notify(watchdog.LIVES)
        await anyio.sleep(seconds)
