"""The outcome of an attempt to send a message."""

from dataclasses import dataclass
from typing import Literal

from hydrology.base.absent import Absent

Pause = Literal["never", "at the end", "at once"]
"""Whether a failure pauses the subscription: never, after the last of all attempts, or now."""


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The outcome of an attempt; the status code is None without an answer.

    `pauses`: whether the receiver is not there, so that nothing more is sent to it, and from when.
    """

    status_code: int | None
    failure: Absent | None = None
    pauses: Pause = "never"
