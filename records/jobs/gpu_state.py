"""The GPU of a worker, as the worker reports it with its heartbeats."""

from dataclasses import dataclass

from hydrology.base.absent import Absent
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class GPUState:
    """The GPU of a worker.

    Attributes:
        device: its name for torch, such as `cuda:0`.
        id: its identifier by its driver.
        memory: bytes of its memory.
        memory_used: bytes in use, by any process.
        utilisation: share of the last moments in which it computed, 0 to 1.
        unread: why a value is missing.
        fault: why it cannot be used, in a sentence; None while it can.
    """

    __pydantic_config__ = CLOSED

    device: str
    id: str | None = None
    name: str | None = None
    memory: int | None = None
    memory_used: int | None = None
    utilisation: float | None = None
    unread: Absent | None = None
    fault: str | None = None
