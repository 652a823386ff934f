"""Find whether a graphics card runs MC-LSTM by the Triton kernels, and why not."""

from functools import cache

import structlog
import torch

MAX_CELLS = 64
"""Of a network that the kernels run; larger ones run torch's operations on a card, too."""
REMEDY = "install a CUDA build of torch, which brings Triton, and a C compiler, by which Triton starts"

log = structlog.get_logger()


def available(device: torch.device) -> bool:
    """Return whether the kernels run on a device. On a card without them, torch's operations run, many times slower."""
    return device.type == "cuda" and lacking() is None


@cache
def lacking() -> str | None:
    """Return what the kernels lack on the current card, found by running one of them, or None. It is logged once."""
    try:
        from models.nets.gpu.antecedent import accumulate

        weather = torch.ones(1, 1, 1, device="cuda")
        accumulate(weather, weather[0, 0], weather[0]).sum().item()
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever prevents it, torch's operations do the work
        reason = f"Triton's kernels do not run on this card ({type(problem).__name__}: {problem}): {REMEDY}"
        log.warning("recurrence.slow", reason=reason)
        return reason
    return None
