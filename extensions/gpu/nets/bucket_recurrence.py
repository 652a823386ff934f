"""The days of buckets by the Triton kernels, under autograd and `vmap`. What `models.nets.bucket_scan` does."""

from typing import Any

import torch
import triton
from torch import Tensor
from torch.autograd.function import once_differentiable

from extensions.gpu.nets import bucket_kernels
from models.nets.bucket_scan import DELAYS, STORES, UNDERWAY, Constants, Drivers, Flow, tagged_scan

__all__ = ["scan", "tagged_scan"]  # the days with tags are torch's operations

BLOCK = 32  # elements of a program: one a thread of a warp


def scan(drivers: Drivers, constants: Constants, routing: Tensor, cells: Tensor) -> Flow:
    """Run T days; arguments and results as of `bucket_scan.scan`."""
    before = cells[UNDERWAY:].unflatten(0, (len(STORES), -1))
    given = torch.stack(drivers, 1), torch.stack(constants), before
    stores, flow, evapotranspiration, leak = _Scan.apply(*given)
    discharge, underway = _routed(flow.flatten(1, 2), routing, cells[:UNDERWAY])
    storage = torch.cat([underway, stores[1:].flatten(1, 2)], 1)
    return Flow(discharge, evapotranspiration.sum(1), leak.sum(1), storage)


def _routed(flow: Tensor, routing: Tensor, underway: Tensor) -> tuple[Tensor, Tensor]:
    """Return discharge (T, B), and the water on its way after each day, (T, UNDERWAY, B), from flow (T, N PATHS, B)."""
    due = torch.einsum("dpb,tpb->dtb", routing, flow)  # by the days until it is discharge
    after = [due[DELAYS - 1]]
    for days in reversed(range(UNDERWAY - 1)):
        after.insert(0, due[days + 1] + torch.cat([underway[days + 1 : days + 2], after[0][:-1]]))
    return due[0] + torch.cat([underway[:1], after[0][:-1]]), torch.stack(after, 1)


class _Scan(torch.autograd.Function):
    """Stores before the first day and after each, flow, evapotranspiration and leak, in the layouts of the kernels."""

    @staticmethod
    def forward(drivers: Tensor, constants: Tensor, before: Tensor) -> tuple[Tensor, ...]:
        drivers, constants = drivers.contiguous(), constants.contiguous()
        days, _, components, samples = drivers.shape
        stores = before.new_empty(days + 1, *before.shape)
        stores[0] = before
        flow = before.new_empty(days, components, 2, samples)
        evapotranspiration, leak = (before.new_empty(days, components, samples) for _ in range(2))
        results = {"stores": stores, "flow": flow, "evapotranspiration": evapotranspiration, "leak": leak}
        grid, launch = _launch(drivers)
        bucket_kernels.forward[grid](drivers, constants, **results, **launch)
        return tuple(results.values())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[:2], output[0])

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_stores: Tensor | None, d_flow: Tensor | None, d_evaporated: Tensor | None, d_leak: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        drivers, constants, stores = ctx.saved_tensors
        drivers, constants = drivers.contiguous(), constants.contiguous()
        days, _, components, samples = drivers.shape
        whole = any(asked is not None for asked in (d_stores, d_evaporated, d_leak))
        of_flow = _whole(d_flow, stores.new_zeros(()).expand(days, components, 2, samples))
        of_rest = {"d_stores": stores, "d_evapotranspiration": stores, "d_leak": stores}  # not read
        if whole:
            of_day = stores[1:, 0]
            asked = (d_stores, stores), (d_evaporated, of_day), (d_leak, of_day)
            of_rest = {name: _whole(*one) for name, one in zip(of_rest, asked, strict=True)}
        wanted = {"d_drivers": drivers, "d_constants": constants, "d_before": stores[0]}
        wanted = {name: torch.empty_like(values) for name, values in wanted.items()}
        grid, launch = _launch(drivers)
        bucket_kernels.backward[grid](
            drivers, constants, stores, d_flow=of_flow, **of_rest, **wanted, WHOLE=whole, **launch
        )
        if d_stores is not None:
            wanted["d_before"] += d_stores[0]
        return wanted["d_drivers"], wanted["d_constants"], wanted["d_before"]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Run members as samples: each sample is alone."""
        size = info.batch_size
        members = (
            values.unsqueeze(-2).expand(*values.shape[:-1], size, values.shape[-1])
            if dim is None
            else values.movedim(dim, -2)
            for values, dim in zip(given, in_dims, strict=True)
        )
        results = _Scan.apply(*(values.flatten(-2) for values in members))
        each = tuple(values.unflatten(-1, (size, -1)) for values in results)
        return each, tuple(values.dim() - 2 for values in each)


def _launch(drivers: Tensor) -> tuple[tuple[int], dict[str, int]]:
    days, _, components, samples = drivers.shape
    elements = components * samples
    counts = {"days": days, "elements": elements, "samples": samples}
    return (triton.cdiv(elements, BLOCK),), {**counts, "BLOCK": BLOCK, "num_warps": 1}


def _whole(gradient: Tensor | None, of: Tensor) -> Tensor:
    return torch.zeros_like(of).contiguous() if gradient is None else gradient.contiguous()
