"""Find whether a graphics card runs MC-LSTM by the Triton kernels, and why not."""

from functools import cache
from importlib.util import find_spec

import structlog
import torch

MEND = "install a CUDA build of torch, which brings Triton"

log = structlog.get_logger()


def available(device: torch.device) -> bool:
    """Return whether the kernels run on a device. On a card without them, torch's operations run, many times slower."""
    return device.type == "cuda" and lacking() is None


@cache
def lacking() -> str | None:
    """Return what the kernels lack, or None. It is logged once."""
    if find_spec("triton") is not None:
        return None
    log.warning("recurrence.slow", reason=f"Triton is not installed, so the card runs torch's operations: {MEND}.")
    return f"Triton is not installed: {MEND}"
