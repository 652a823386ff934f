"""Signs of life of the event loop: one that hangs gives none."""

import anyio

from records import signs


async def give_signs() -> None:
    """Give signs of life until cancelled, where somebody waits for them."""
    seconds = signs.pause()
    while seconds is not None:
        signs.tell(signs.LIVES)
        await anyio.sleep(seconds)
