"""The compiled recurrence under autograd. What `scan.scan` does, in blocks of samples, several at once.

The samples of a batch are split into blocks of `SAMPLES`, padded with dry ones, and blocks into teams that share the
weights on their way from memory. The result of a sample depends only on the sample.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from models.devices import cores_in_use
from models.nets.compiled import loader
from models.nets.compiled.loader import Call, require
from models.nets.layers import aligned_size, linear
from models.nets.scan import Flow, Gates, TaggedFlow, Tags

SAMPLES = 32  # of a block
HALF_BLOCK = 16  # where no more are there, forward products of the dry samples are left out
MAX_BLOCKS = 2  # of a team
VECTOR_BYTES = 64
TILE, PAIRS = 16, 32  # rows of a tile, numbers of bfloat16 in one of them

AXES = {
    "varying": "RF", "static weights": "RS", "bias": "R", "factor": "HV", "factor_bias": "H", "wetness": "K",
    "drivers": "TBD", "static": "BS", "mass": "TB", "cells": "BK", "tag_mass": "TBG", "tag_cells": "BKG",
}  # fmt: skip
"""Of what is given: rows of the gates, features (cells and drivers), attributes, rows of U, mixtures, cells; days,
samples, drivers, tags."""

Blocks = dict[str, Tensor]


def available(device: torch.device) -> bool:
    """Return whether the compiled recurrence can run on a device."""
    return device.type == "cpu" and loader.library() is not None


def scan(gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor) -> Flow:
    """Run T days of the recurrence; arguments and results as of `models.nets.scan.scan`."""
    _check(gates, drivers, static, mass, cells)
    weights, fixed, precision = _weights(gates, static, cells.shape[1])
    arguments = (*gates.learnt, fixed, drivers, mass, cells, weights, precision)
    return _flow(_Scan.apply(*arguments))  # type: ignore[no-untyped-call]


def tagged_scan(
    gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor, tags: Tags
) -> tuple[Flow, TaggedFlow]:
    """Run T days of the recurrence, each tag's water beside all water. As of `models.nets.scan.tagged_scan`.

    The gates and the total water have the same bits as those of `scan`.
    """
    _check(gates, drivers, static, mass, cells, tags)
    weights, fixed, precision = _weights(gates, static, cells.shape[1])
    given = _given(fixed, drivers, mass, cells) | {"tag_mass": _blocks(tags.mass, 1)}
    created, carried = _allocate(given), _blocks(tags.cells, 0).transpose(1, 2).contiguous()
    of_tags = {name: torch.empty_like(given["tag_mass"]) for name in ("tag_discharge", "tag_loss")}
    _run(precision, weights, given | created | of_tags | {"tag_cells": carried}, samples := len(cells))
    flow = _flow(tuple(_whole(values, 1, samples) for values in created.values()))
    discharge, loss = (_whole(values, 1, samples) for values in of_tags.values())
    return flow, TaggedFlow(discharge, loss, _whole(carried.transpose(1, 2), 0, samples))


def _check(
    gates: Gates, drivers: Tensor, static: Tensor, mass: Tensor, cells: Tensor, tags: Tags | None = None
) -> None:
    """Raise ValueError unless all arrays are of the same samples, days, cells and dtype."""
    (days, samples, values), features = drivers.shape, gates.varying.shape[1]
    count = features - values  # of the cells
    row, rank = aligned_size(count), 0 if gates.factor is None else gates.factor.shape[1]
    sizes = {"T": days, "B": samples, "D": values, "F": features, "K": count, "S": gates.static.shape[1], "V": rank}
    sizes |= {"H": count * row, "R": (rank or count * row) + 2 * row, "G": 0 if tags is None else tags.mass.shape[2]}
    given: dict[str, Tensor | None] = {"varying": gates.varying, "static weights": gates.static, "bias": gates.bias}
    given |= {"factor": gates.factor, "factor_bias": gates.factor_bias, "wetness": gates.wetness}
    given |= {"drivers": drivers, "static": static, "mass": mass, "cells": cells}
    given |= {} if tags is None else {"tag_mass": tags.mass, "tag_cells": tags.cells}
    require(given, AXES, sizes, gates.varying.dtype)


def _weights(gates: Gates, static: Tensor, cells: int) -> tuple[Blocks, Tensor, str]:
    """Return the weights by the names of `Call`, the gates' constant part (blocks, rows, 32), and the precision."""
    weight, factor = gates.varying, gates.factor
    half = gates.half_products and factor is None and weight.dtype == torch.float32 and loader.half_unit() is not None
    # Block by block, samples as rows: the bits of a product depend on its shape, and on a sample's column.
    blocks = _blocks(static, 0).transpose(1, 2).contiguous()
    fixed = torch.stack([linear(block, gates.static, gates.bias).t() for block in blocks])
    if half:
        groups = fixed.unflatten(1, (cells + 2, -1))
        fixed = functional.pad(groups, (0, 0, 0, -groups.shape[2] % PAIRS)).flatten(1, 2)
    precision = "half" if half else {torch.float32: "float", torch.float64: "double"}[weight.dtype]
    if precision not in gates.prepared:
        gates.prepared[precision] = _prepared(gates, cells, half)
    return gates.prepared[precision], fixed, precision


def _given(fixed: Tensor, drivers: Tensor, mass: Tensor, cells: Tensor) -> Blocks:
    return {"fixed": fixed, "drivers": _blocks(drivers, 1), "mass": _blocks(mass, 1), "cells_before": _blocks(cells, 0)}


def _allocate(given: Blocks) -> Blocks:
    mass, cells = given["mass"], given["cells_before"]
    storage = mass.new_empty(*mass.shape[:2], *cells.shape[1:])
    return {"storage": storage, "outflow": torch.empty_like(storage), "discharge": torch.empty_like(mass)}


def _flow(created: Any) -> Flow:
    storage, outflow, discharge = created
    return storage, outflow, discharge


class _Scan(torch.autograd.Function):
    """The recurrence: every day the gates are `fixed` (blocks, rows, 32) plus `weight` times cells and drivers.

    `weights` are `weight`, `factor`, `factor_bias` and `wetness` as the program takes them, by the names of `Call`.
    """

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, ...]:
        weight, *_, fixed, drivers, mass, cells, weights, precision = arguments
        ctx.set_materialize_grads(False)
        ctx.precision, ctx.samples, ctx.shape = precision, len(cells), weight.shape
        given = _given(fixed, drivers, mass, cells)
        created = _allocate(given)
        _run(precision, weights, given | created, ctx.samples)
        ctx.weights, ctx.blocks = tuple(weights), (*given, "storage", "outflow")
        ctx.save_for_backward(*weights.values(), *given.values(), created["storage"], created["outflow"])
        return tuple(_whole(values, 1, ctx.samples) for values in created.values())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *d_created: Tensor | None) -> tuple[Tensor | None, ...]:
        saved = dict(zip((*ctx.weights, *ctx.blocks), ctx.saved_tensors, strict=True))
        weights, blocks = ({name: saved[name] for name in names} for names in (ctx.weights, ctx.blocks))
        for name, gradient in zip(("d_storage", "d_outflow", "d_discharge"), d_created, strict=True):
            if gradient is not None:
                blocks[name] = _blocks(gradient, 1)
        wanted = {"d_cells": ("cells_before", 0)}
        wanted |= {"d_drivers": ("drivers", 1)} if ctx.needs_input_grad[5] else {}
        wanted |= {"d_mass": ("mass", 1)} if ctx.needs_input_grad[6] else {}
        blocks |= {name: torch.zeros_like(blocks[of]) for name, (of, _) in wanted.items()}
        blocks["d_fixed"] = torch.zeros_like(blocks["fixed"])
        created = _run(ctx.precision, weights, blocks, ctx.samples, backward=True)
        rows, features = ctx.shape
        d_weight = created["d_weight"][:, :features]
        if len(d_weight) > rows:  # groups padded for bfloat16
            groups = blocks["storage"].shape[2] + 2
            d_weight = d_weight.unflatten(0, (groups, -1))[:, : rows // groups].flatten(0, 1)
        d_factor_bias, d_wetness = (
            None if lanes is None else lanes.sum(1)
            for lanes in (created.get("d_factor_bias"), created.get("d_wetness"))
        )
        whole = {name: _whole(blocks[name], axis, ctx.samples) for name, (_, axis) in wanted.items()}
        d_drivers, d_mass = whole.get("d_drivers"), whole.get("d_mass")
        return (
            d_weight, created.get("d_factor"), d_factor_bias, d_wetness,
            blocks["d_fixed"], d_drivers, d_mass, whole["d_cells"], None, None,
        )  # fmt: skip


def _run(precision: str, weights: Blocks, blocks: Blocks, samples: int, *, backward: bool = False) -> Blocks:
    """Run all blocks, in teams, on as many threads as there are cores in use; what is missing is null.

    The blocks hold `samples` without padding. Backward returns the gradients of the weights, summed over the teams.
    """
    library = loader.library()
    assert library is not None, "asked for without `available`"
    function: Callable[[Any, int], int] = getattr(library, f"freshet_{precision}")
    count, days, drivers = blocks["drivers"].shape[:3]
    cells = blocks["cells_before"].shape[1]
    cores = cores_in_use()
    size = max(1, min(MAX_BLOCKS, count // cores))
    firsts = range(0, count, size)
    gradients = _gradients(weights, cells + drivers, len(firsts), precision) if backward else {}
    rank = weights["factor"].shape[1] if "factor" in weights else 0
    tags = blocks["tag_mass"].shape[2] if "tag_mass" in blocks else 0
    padded = len(weights["factor"]) // cells if rank else len(weights["weight"]) // (cells + 2)
    occupied = HALF_BLOCK if samples <= HALF_BLOCK else SAMPLES
    shared = {name: values.data_ptr() for name, values in weights.items()}

    def run(team: int) -> int:
        first = firsts[team]
        sizes = (days, min(size, count - first), cells, padded, drivers, rank, tags, occupied)
        pointers = {name: values[first].data_ptr() for name, values in blocks.items()}
        pointers |= {name: values[team].data_ptr() for name, values in gradients.items()}
        call = Call(*sizes, **shared, **pointers)
        return function(ctypes.byref(call), int(backward))

    if cores == 1 or len(firsts) == 1:
        failed = [run(team) for team in range(len(firsts))]
    else:
        with ThreadPoolExecutor(cores) as pool:
            failed = list(pool.map(run, range(len(firsts))))
    if any(failed):
        raise MemoryError("The recurrence found no memory for its buffers.")
    return {name: torch.sum(values, 0) for name, values in gradients.items()}


def _gradients(weights: Blocks, features: int, teams: int, precision: str) -> Blocks:
    """Return zeros, a team first, rows of `d_weight` padded; `d_factor_bias` and `d_wetness` are not summed yet."""
    of = weights["weight"]
    wide = features + -features % (PAIRS if precision == "half" else TILE)
    kind = torch.float32 if precision == "half" else of.dtype
    gradients = {"d_weight": torch.zeros(teams, len(of), wide, dtype=kind)}
    lanes = VECTOR_BYTES // kind.itemsize
    if "wetness" in weights:
        gradients["d_wetness"] = torch.zeros(teams, len(weights["wetness"]), lanes, dtype=kind)
    if "factor" in weights:
        rows, rank = weights["factor"].shape
        gradients["d_factor"] = torch.zeros(teams, rows, rank, dtype=kind)
        gradients["d_factor_bias"] = torch.zeros(teams, rows, lanes, dtype=kind)
    return gradients


def _prepared(gates: Gates, cells: int, half: bool) -> Blocks:
    weights = {"factor": gates.factor, "factor_bias": gates.factor_bias, "wetness": gates.wetness}
    given = {name: values.detach().contiguous() for name, values in weights.items() if values is not None}
    if half:
        return given | dict(zip(("weight", "weight_tiles"), _tiles_of(gates.varying.detach(), cells), strict=True))
    return given | {"weight": gates.varying.detach().contiguous()}


def _tiles_of(weight: Tensor, cells: int) -> tuple[Tensor, Tensor]:
    """Return the weights in bfloat16, groups and features padded to 32, and their transpose in tiles."""
    groups = weight.to(torch.bfloat16).unflatten(0, (cells + 2, -1))
    rows, features = groups.shape[1:]
    padded = functional.pad(groups, (0, -features % PAIRS, 0, -rows % PAIRS)).flatten(0, 1).contiguous()
    tiles = padded.t().unflatten(1, (-1, PAIRS)).unflatten(0, (-1, TILE))
    return padded, tiles.permute(2, 0, 1, 3).contiguous()


def _blocks(values: Tensor, axis: int) -> Tensor:
    """Return (blocks, ..., SAMPLES), the samples taken from an axis and padded with zeros."""
    samples_last = values.movedim(axis, -1)
    padded = functional.pad(samples_last, (0, -samples_last.shape[-1] % SAMPLES))
    return torch.movedim(padded.unflatten(-1, (-1, SAMPLES)), -2, 0).contiguous()


def _whole(blocks: Tensor, axis: int, samples: int) -> Tensor:
    return blocks.movedim(0, -2).flatten(-2)[..., :samples].movedim(-1, axis)
