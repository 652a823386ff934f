"""The compiled days of buckets under autograd. What `bucket_scan` does, 32 samples side by side."""

import ctypes
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from models.nets.bucket_scan import PATHS, STORES, Constants, Drivers, Flow, TaggedFlow
from models.nets.compiled import loader
from models.nets.compiled.loader import BucketsCall, require
from models.nets.compiled.recurrence import SAMPLES, VECTOR_BYTES, available

__all__ = ["available", "scan", "tagged_scan"]

Arrays = dict[str, Tensor]
GIVEN = ("drivers", "constants", "routing", "before")
CREATED = ("discharge", "evapotranspiration", "leak", "storage", "inflow")
AXES = {"drivers": "TINB", "constants": "CNB", "routing": "DPB", "before": "KB", "tagged": "KGB", "tag": "T"}
"""Of what is given: days, inputs, components, samples, constants, delays, paths of all components, cells, tags."""


def scan(drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor) -> Flow:
    """Run T days; arguments and results as of `bucket_scan.scan`."""
    created = _Scan.apply(*_given(drivers, constants, routing, cells))  # type: ignore[no-untyped-call]
    return Flow(*(values[..., : routing.shape[-1]] for values in created[:-1]))


def tagged_scan(
    drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor, tagged: Tensor, tag: Tensor
) -> tuple[Flow, TaggedFlow]:
    """Run T days with tags, as of `bucket_scan.tagged_scan`; all water has the bits of `scan`."""
    tag = tag.to(torch.int64).contiguous()
    given = _given(drivers, constants, routing, cells, tagged=tagged, tag=tag)
    arrays = dict(zip(GIVEN, given, strict=True))
    created, (carried,) = _allocate(arrays), _padded(tagged)
    if carried.data_ptr() == tagged.data_ptr():
        carried = carried.clone()
    days, tags = len(drivers.rain), tagged.shape[1]
    left = {name: routing.new_empty(days, tags, carried.shape[-1]) for name in ("tag_discharge", "tag_loss")}
    _run(arrays | created | left | {"tagged": carried, "tag": tag})
    samples = slice(routing.shape[-1])
    flow = Flow(*(created[name][..., samples] for name in CREATED[:-1]))
    return flow, TaggedFlow(*(values[..., samples] for values in (*left.values(), carried)))


def _given(
    drivers: Drivers,
    constants: Constants,
    routing: Tensor,
    cells: Tensor,
    tagged: Tensor | None = None,
    tag: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Return what the program reads, by the names in `GIVEN`, in whole blocks; check shapes and dtypes."""
    stacked = (torch.stack(drivers, 1), torch.stack(constants), routing, cells)
    (days, inputs, components, samples), delays = stacked[0].shape, len(routing)
    sizes = {"T": days, "I": inputs, "N": components, "B": samples, "C": len(constants), "D": delays}
    sizes |= {"P": PATHS * components, "K": delays - 1 + len(STORES) * components}
    sizes["G"] = 0 if tagged is None else tagged.shape[1]
    require(dict(zip(GIVEN, stacked, strict=True)) | {"tagged": tagged}, AXES, sizes, stacked[0].dtype)
    require({"tag": tag}, AXES, sizes, torch.int64)
    return _padded(*stacked)


class _Scan(torch.autograd.Function):
    """The days of whole blocks of samples, samples last."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        arrays = dict(zip(GIVEN, given, strict=True))
        created = _allocate(arrays)
        _run(arrays | created)
        ctx.save_for_backward(*given, created["inflow"], created["storage"])
        return tuple(created[name] for name in CREATED)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *d_created: Tensor | None) -> tuple[Tensor, ...]:
        arrays = dict(zip((*GIVEN, "inflow", "storage"), ctx.saved_tensors, strict=True))
        asked = {f"d_{name}": _placed(d) for name, d in zip(CREATED[:-1], d_created[:-1], strict=True) if d is not None}
        wanted = {f"d_{name}": torch.zeros_like(arrays[name]) for name in GIVEN}
        _run(arrays | asked | wanted, backward=True)
        return tuple(wanted.values())


def _allocate(given: Arrays) -> Arrays:
    days, (cells, samples) = len(given["drivers"]), given["before"].shape
    of_day = {name: given["before"].new_empty(days, samples) for name in CREATED if name != "storage"}
    of_day["inflow"] = given["before"].new_empty(days, given["routing"].shape[1], samples)
    created = of_day | {"storage": given["before"].new_empty(days, cells, samples)}
    return {name: created[name] for name in CREATED}


def _run(arrays: Arrays, *, backward: bool = False) -> None:
    """Run all blocks. `arrays` are by the names of `BucketsCall`; what is missing is null."""
    library = loader.library()
    assert library is not None, "asked for without `available`"
    days, _, components, samples = arrays["drivers"].shape
    double = arrays["drivers"].dtype == torch.float64
    function: Callable[[Any, int], None] = library.freshet_buckets_double if double else library.freshet_buckets_float
    tags = arrays["tagged"].shape[1] if "tagged" in arrays else 0
    pointers = {name: values.data_ptr() for name, values in arrays.items()}
    function(
        ctypes.byref(BucketsCall(days, components, samples, len(arrays["routing"]), tags, **pointers)), int(backward)
    )


def _padded(*values: Tensor) -> tuple[Tensor, ...]:
    """Return arrays whose samples, the last axis, are whole blocks; the last sample again where there is none."""
    missing = -values[0].shape[-1] % SAMPLES
    return tuple(
        _placed(torch.cat([one, one[..., -1:].expand(*one.shape[:-1], missing)], -1) if missing else one)
        for one in values
    )


def _placed(values: Tensor) -> Tensor:
    """Return values without gaps in memory, which begin where a vector may."""
    whole = values.contiguous()
    return whole.clone() if whole.data_ptr() % VECTOR_BYTES else whole
