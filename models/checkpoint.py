"""Weights and training checkpoints as safetensors. Named tensors and a JSON header, never a pickle."""

import json
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from hydrology.base.errors import DataProblem, excerpt

Tensors = dict[str, Tensor]


class Optimizer(Protocol):
    """The part of torch's optimisers that checkpoints need."""

    param_groups: list[dict[str, Any]]

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...


def dump(tensors: Tensors, header: dict[str, Any]) -> bytes:
    """Encode tensors and a JSON-able header as bytes."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(contiguous, {"header": json.dumps(header)})


def parse(blob: bytes) -> tuple[Tensors, dict[str, Any]]:
    """Decode the result of `dump`; DataProblem where the blob is not a whole safetensors file of ours."""
    try:
        tensors = load(blob)
        header_size = int.from_bytes(blob[:8], "little")
        metadata = json.loads(blob[8 : 8 + header_size])["__metadata__"] or {}
        header = json.loads(metadata["header"])
        if not isinstance(header, dict):
            raise ValueError("its header is not an object")
    except (SafetensorError, KeyError, ValueError, RecursionError) as error:
        raise DataProblem(f"The stored weights cannot be read ({excerpt(error)}): restore or retrain them.") from error
    return tensors, header


def not_finite(tensors: Tensors) -> list[str]:
    """Return the names of the tensors that contain NaN or an infinity."""
    return [name for name, tensor in tensors.items() if not tensor.isfinite().all()]


def prefixed(prefix: str, tensors: Tensors) -> Tensors:
    """Return the tensors with `prefix` added to their names."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: Tensors) -> Tensors:
    """Return the tensors whose names begin with `prefix`, with it removed."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def optimizer_tensors(optimizer: Optimizer) -> Tensors:
    """Return an optimiser's state as tensors named `<parameter index>.<entry>`."""
    return {
        f"{index}.{name}": torch.as_tensor(value)
        for index, entries in optimizer.state_dict()["state"].items()
        for name, value in entries.items()
    }


def fits_optimizer(optimizer: Optimizer, tensors: Tensors) -> bool:
    """Return whether the result of `optimizer_tensors` is of these parameters (Adam's), whole for each that it has."""
    fitted = [weights.shape for group in optimizer.param_groups for weights in group["params"]]
    shapes = {str(index): shape for index, shape in enumerate(fitted)}
    wanted: dict[str, torch.Size | None] = {}
    for index in {name.partition(".")[0] for name in tensors}:
        wanted |= {f"{index}.{name}": shapes.get(index) for name in ("exp_avg", "exp_avg_sq")}
        wanted[f"{index}.step"] = torch.Size()
    return {name: tensor.shape for name, tensor in tensors.items()} == wanted


def restore_optimizer(optimizer: Optimizer, tensors: Tensors) -> None:
    """Restore the result of `optimizer_tensors`."""
    state: dict[int, Tensors] = {}
    for key, tensor in tensors.items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
