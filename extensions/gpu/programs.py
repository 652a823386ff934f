"""The programs that compute on graphics cards, as the core finds them (`models.devices.GPUPrograms`)."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType

import structlog
import torch

from hydrology.base.errors import excerpt
from jobspec.network import MCLSTMConfig
from jobspec.training import TrainingConfig
from models.contract import Inputs, Network, Outputs, State
from models.devices import GPULost, GPUPrograms
from models.ensemble import ArrayMap
from models.nets.buckets import Buckets
from models.nets.mclstm import MCLSTM

MAX_CELLS = 64
"""Of an MC-LSTM that the kernels run; larger ones run torch's operations on a card, too."""
HELD_NUMBERS = 2**31
"""Of a state's storage over all days, by the members that run at once: 8 GB."""
REMEDY = "install a CUDA build of torch, which brings Triton, and a C compiler, by which Triton starts"
_OF_GPU = re.compile("cuda|cudnn|cublas|nvidia|nvrtc", re.IGNORECASE)
_OF_MEMORY = re.compile("out of memory|alloc_failed", re.IGNORECASE)

log = structlog.get_logger()


class Programs:
    """Triton's kernels, which are loaded where a card is used, and torch's operations for all members."""

    def devices(self) -> list[str]:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return [*(["cuda"] if count else []), *(f"cuda:{number}" for number in range(count))]

    @contextmanager
    def faults(self, device: str) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, AssertionError) as error:  # without CUDA, torch asserts
            if not (isinstance(error, torch.AcceleratorError) or _OF_GPU.search(str(error))):
                raise
            if _OF_MEMORY.search(str(error)):  # of CUDA's libraries, not of torch's allocator
                raise torch.OutOfMemoryError(str(error)) from error
            raise GPULost(
                f"The device {device} cannot be used ({excerpt(error)}): see that this machine has it and that its "
                "driver works, or use the CPU."
            ) from error

    def lacking(self) -> str | None:
        return lacking()

    def runs(self, network: Network) -> bool:
        if not isinstance(network, MCLSTM) or network.recurrence != "fastest":
            return isinstance(network, MCLSTM) and network.recurrence == "triton"
        return network.cells <= MAX_CELLS and available(network.output_gate.weight.device)

    def run(self, network: Network, inputs: Inputs, state: State) -> tuple[Outputs, State]:
        from extensions.gpu.nets.members import run_alone

        assert isinstance(network, MCLSTM)
        return run_alone(network, inputs, state)

    def buckets(self, network: Buckets) -> ModuleType | None:
        if network.recurrence == "triton" or (network.recurrence == "fastest" and available(network.given.bias.device)):
            from extensions.gpu.nets import bucket_recurrence

            return bucket_recurrence
        return None

    def simulate(
        self, networks: Sequence[Network], inputs: Inputs, states: Sequence[ArrayMap] | None, wanted: Sequence[str]
    ) -> Iterator[tuple[ArrayMap, ArrayMap]]:
        """Run members at once, as many as `HELD_NUMBERS` allows."""
        from extensions.gpu.nets.members import stack
        from extensions.gpu.simulation import simulate_together

        members = [network for network in networks if isinstance(network, MCLSTM)]
        size = max(1, HELD_NUMBERS // max(1, inputs.mass.numel() * members[0].cells))
        for first in range(0, len(members), size):
            some = slice(first, first + size)
            given = None if states is None else states[some]
            outputs, last = simulate_together(members[0], stack(members[some]), inputs, given, wanted)
            for member, state in enumerate(last):
                yield {name: values[member].numpy() for name, values in outputs.items()}, state

    def trains_together(self, config: TrainingConfig, device: str | None = None) -> bool:
        small = not isinstance(config.network, MCLSTMConfig) or config.network.cells <= MAX_CELLS
        suits = small and config.loss == "nse*" and not config.log_share
        return suits and (device is None or available(torch.device(device)))


PROGRAMS: GPUPrograms = Programs()


def available(device: torch.device) -> bool:
    """Return whether the kernels run on a device. On a card without them, torch's operations run, many times slower."""
    return device.type == "cuda" and lacking() is None


@cache
def lacking() -> str | None:
    """Return what the kernels lack on the current card, found by running one of them, or None. It is logged once."""
    try:
        from extensions.gpu.nets.antecedent import accumulate

        weather = torch.ones(1, 1, 1, device="cuda")
        accumulate(weather, weather[0, 0], weather[0]).sum().item()
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever prevents it, torch's operations do the work
        reason = f"Triton's kernels do not run on this card ({type(problem).__name__}: {problem}): {REMEDY}"
        log.warning("recurrence.slow", reason=reason)
        return reason
    return None
