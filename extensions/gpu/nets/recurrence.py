"""The recurrence of many members and samples at once, with its backward pass, by the Triton kernels.

Shapes: M members, B samples, T days, K cells, R mixtures (K where R is not factorised), G tags.
"""

from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable

from extensions.gpu.nets import kernels
from extensions.gpu.nets.products import sum_parts, weight_gradient

RESIDENT_NUMBERS = 2**15
"""Numbers of U that a program holds in its registers: those of 32 cells with up to 32 mixtures."""
THREAD_NUMBERS = 64  # of them a thread
CHUNK = 512  # rows of a partial sum of U's gradient


class MemberGates(NamedTuple):
    """The weights of the gates of M members that see the cells.

    Attributes:
        factor: U, (M, R, K, K) by mixture, source and target; where R is not factorised, its weights of the cells.
        factor_bias: b, (M, K, K); None where R is not factorised.
        of_cells: (M, rows, K), of the mixtures, if any, and of the input and output gates.
        wetness: kappa, (M, K) in 1/mm, or None.
    """

    factor: Tensor
    factor_bias: Tensor | None
    of_cells: Tensor
    wetness: Tensor | None


class MemberTags(NamedTuple):
    """Water divided by tags: precipitation (M, B, T, G) in mm/day, and that in the cells (M, B, G, K) in mm."""

    mass: Tensor
    cells: Tensor


class MemberFlow(NamedTuple):
    """Storage c and outflow h (M, B, T, K), and discharge (M, B, T)."""

    storage: Tensor
    outflow: Tensor
    discharge: Tensor


class MemberTaggedFlow(NamedTuple):
    """Discharge and loss (M, B, T, G) in mm/day, and cells (M, B, G, K) in mm after the last day, by tag."""

    discharge: Tensor
    loss: Tensor
    cells: Tensor


def scan(gates: MemberGates, rows: Tensor, mass: Tensor, cells: Tensor) -> MemberFlow:
    """Run T days of every sample of every member, mass (M, B, T) in mm/day, from cells (M, B, K) in mm.

    `rows`, (M, B, T, W), is what weather, statics and biases give to the pre-activations: of the mixtures (of R itself
    where it is not factorised), the input gate and the output gate.
    """
    weights = (values if values is None else values.contiguous() for values in gates)
    given = (values.contiguous() for values in (rows, mass, cells))
    return MemberFlow(*_Scan.apply(*weights, *given))


@torch.no_grad()
def tagged_scan(
    gates: MemberGates, rows: Tensor, mass: Tensor, cells: Tensor, tags: MemberTags
) -> tuple[MemberFlow, MemberTaggedFlow]:
    """Run T days, each tag's water beside all water; the arguments are those of `scan`."""
    given = _Given.of(gates, rows, mass, cells)
    flow = given.flow()
    G = tags.mass.shape[-1]
    tagged = MemberTaggedFlow(
        rows.new_empty(*mass.shape, G),
        rows.new_empty(*mass.shape, G),
        tags.cells.clone(memory_format=torch.contiguous_format),
    )
    of_tags = {"tag_mass": tags.mass.contiguous(), "tag_cells": tagged.cells}
    of_tags |= {"tag_discharge": tagged.discharge, "tag_loss": tagged.loss}
    sizes = {"G": G, "GP": max(16, triton.next_power_of_2(G))}
    kernels.tagged_forward[given.grid](**given.tensors, **flow._asdict(), **of_tags, **sizes, **given.launch())
    return flow, tagged


class _Given(NamedTuple):
    """The arguments, by name and contiguous, that all kernels of the recurrence begin with."""

    tensors: dict[str, Tensor]
    factorised: bool
    wet: bool

    @classmethod
    def of(cls, gates: MemberGates, rows: Tensor, mass: Tensor, cells: Tensor) -> "_Given":
        absent = gates.of_cells  # any pointer: it is not read
        weights = {name: absent if values is None else values for name, values in gates._asdict().items()}
        given = weights | {"rows": rows, "mass": mass, "cells": cells}
        tensors = {name: values.contiguous() for name, values in given.items()}
        return cls(tensors, gates.factor_bias is not None, gates.wetness is not None)

    @property
    def mass(self) -> Tensor:
        return self.tensors["mass"]

    @property
    def cells(self) -> Tensor:
        return self.tensors["cells"]

    @property
    def grid(self) -> tuple[int, int]:
        members, samples = self.mass.shape[:2]
        return samples, members

    def flow(self) -> MemberFlow:

        storage = self.mass.new_empty(*self.mass.shape, self.cells.shape[-1])
        return MemberFlow(storage, torch.empty_like(storage), torch.empty_like(self.mass))

    def shape(self) -> dict[str, Any]:
        K, R = self.cells.shape[-1], self.tensors["factor"].shape[1]
        return {
            "K": K, "KP": max(16, triton.next_power_of_2(K)), "R": R, "RP": max(16, triton.next_power_of_2(R)),
            "FACTORISED": self.factorised, "WETNESS": self.wet,
        }  # fmt: skip

    def launch(self) -> dict[str, Any]:
        """Return counts, shape and options of the kernels that can hold U in registers."""
        shape = self.shape()
        numbers = shape["RP"] * shape["KP"] ** 2
        resident = numbers <= RESIDENT_NUMBERS
        warps = max(1, numbers // (32 * THREAD_NUMBERS)) if resident else 16
        counts = {"days": self.mass.shape[2], "samples": self.mass.shape[1]}
        return {**counts, **shape, "RESIDENT": resident, "num_warps": warps, "enable_fp_fusion": True}


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        factor: Tensor,
        factor_bias: Tensor | None,
        of_cells: Tensor,
        wetness: Tensor | None,
        rows: Tensor,
        mass: Tensor,
        cells: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        given = _Given.of(MemberGates(factor, factor_bias, of_cells, wetness), rows, mass, cells)
        flow = given.flow()
        K, R = cells.shape[-1], factor.shape[1]
        training = any(ctx.needs_input_grad)
        gates = rows.new_empty(*mass.shape, 6 * K + R) if training else flow.storage
        results = {**flow._asdict(), "gates": gates}
        kernels.forward[given.grid](**given.tensors, **results, TRAINING=training, **given.launch())
        ctx.given = given
        ctx.save_for_backward(flow.storage, gates)
        return tuple(flow)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_storage: Tensor | None, d_outflow: Tensor | None, d_discharge: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        given, (storage, gates) = ctx.given, ctx.saved_tensors
        rows, mass, cells = (given.tensors[name] for name in ("rows", "mass", "cells"))
        whole = d_storage is not None or d_outflow is not None
        wanted = {
            "d_storage": _whole(d_storage, storage) if whole else storage,
            "d_outflow": _whole(d_outflow, storage) if whole else storage,
            "d_discharge": _whole(d_discharge, mass),
        }
        d_rows, d_mass, d_cells, d_wetness = map(torch.empty_like, (rows, mass, cells, cells))
        results = {"d_rows": d_rows, "d_mass": d_mass, "d_cells": d_cells, "d_wetness": d_wetness}
        routes = rows.new_empty(*mass.shape, 3, cells.shape[-1])
        stored = {"storage": storage, "gates": gates}
        kernels.backward[given.grid](
            **given.tensors, **stored, **wanted, **results, routes=routes, WHOLE=whole, **given.launch()
        )
        K = cells.shape[-1]
        d_weights = weight_gradient(gates[..., :K].flatten(1, 2).contiguous(), d_rows.flatten(1, 2))
        d_bias: Tensor | None = None
        if given.factorised:
            d_factor, d_bias = _factor_gradient(given, gates, routes)
            d_of_cells = d_weights
        else:
            d_R, d_of_cells = d_weights.split([K * K, 2 * K], 1)
            d_factor = d_R.unflatten(1, (K, K)).permute(0, 3, 1, 2)
        d_kappa = sum_parts(d_wetness) if given.wet else None
        return d_factor, d_bias, d_of_cells, d_kappa, d_rows, d_mass, d_cells


def _whole(gradient: Tensor | None, of: Tensor) -> Tensor:
    return torch.zeros_like(of) if gradient is None else gradient.contiguous()


def _factor_gradient(given: _Given, gates: Tensor, routes: Tensor) -> tuple[Tensor, Tensor]:
    factor, bias = given.tensors["factor"], given.tensors["factor_bias"]
    rows = given.mass[0].numel()
    members, chunks, K = len(factor), triton.cdiv(rows, CHUNK), factor.shape[-1]
    d_factor, d_bias = factor.new_empty(members, chunks, *factor.shape[1:]), bias.new_empty(members, chunks, K, K)
    shape = {name: value for name, value in given.shape().items() if name in ("K", "KP", "R", "RP")}
    JB = min(shape["KP"], max(1, 2**14 // (shape["RP"] * shape["KP"])))  # sources of a program
    arguments = {"factor": factor, "factor_bias": bias, "gates": gates, "routes": routes, "rows": rows}
    results = {"d_factor": d_factor, "d_bias": d_bias}
    options = {"CHUNK": CHUNK, "JB": JB, "num_warps": 8, "enable_fp_fusion": True}
    kernels.factor_gradient[(chunks, triton.cdiv(K, JB), members)](**arguments, **results, **shape, **options)
    return sum_parts(d_factor), sum_parts(d_bias)
