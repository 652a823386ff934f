"""Products and sums of many members at once, whose bits depend on no other member and on no other row, in Triton.

A library's batched products choose another order of sums for another number of members.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

ROWS, OUTPUTS, FEATURES = 64, 32, 32  # of a block
CHUNK, CHUNK_ROWS = 1024, 32  # rows of a partial sum, and of a block of it
LANES = 1024


@triton.jit
def _product(
    x, weight, result, rows, of_member_x, of_output, of_feature,
    OUT: tl.constexpr, IN: tl.constexpr, ROWS: tl.constexpr, OUTPUTS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    """result (M, rows, OUT) = x (M, rows, IN) weight^T, with the strides of the weight's outputs and features."""
    n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    o = tl.program_id(1) * OUTPUTS + tl.arange(0, OUTPUTS)
    member = tl.program_id(2).to(tl.int64)
    x += member * of_member_x
    weight += member * (OUT * IN)
    total = tl.zeros((ROWS, OUTPUTS), x.dtype.element_ty)
    for start in range(0, IN, FEATURES):
        f = start + tl.arange(0, FEATURES)
        a = tl.load(
            x + n.to(tl.int64)[:, None] * IN + f[None, :], mask=(n[:, None] < rows) & (f[None, :] < IN), other=0.0
        )
        b = tl.load(
            weight + f[:, None] * of_feature + o[None, :] * of_output,
            mask=(f[:, None] < IN) & (o[None, :] < OUT),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=total.dtype)
    place = (member * rows + n.to(tl.int64)[:, None]) * OUT + o[None, :]
    tl.store(result + place, total, mask=(n[:, None] < rows) & (o[None, :] < OUT))


@triton.jit
def _product_gradient(
    x, d_result, parts, rows, of_member_x,
    OUT: tl.constexpr, IN: tl.constexpr, CHUNK: tl.constexpr, ROWS: tl.constexpr, OUTPUTS: tl.constexpr,
    FEATURES: tl.constexpr,
):  # fmt: skip
    """parts (M, chunks, OUT, IN): the sums of d_result^T x over chunks of the rows."""
    blocks: tl.constexpr = (OUT + OUTPUTS - 1) // OUTPUTS
    chunk, block, member = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    o = (block % blocks) * OUTPUTS + tl.arange(0, OUTPUTS)
    f = (block // blocks) * FEATURES + tl.arange(0, FEATURES)
    x += member * of_member_x
    d_result += member * rows * OUT
    total = tl.zeros((OUTPUTS, FEATURES), x.dtype.element_ty)
    for start in range(0, tl.minimum(CHUNK, rows - chunk * CHUNK), ROWS):
        n = (chunk * CHUNK + start + tl.arange(0, ROWS)).to(tl.int64)
        a = tl.load(d_result + n[None, :] * OUT + o[:, None], mask=(n[None, :] < rows) & (o[:, None] < OUT), other=0.0)
        b = tl.load(x + n[:, None] * IN + f[None, :], mask=(n[:, None] < rows) & (f[None, :] < IN), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=total.dtype)
    place = ((member * tl.num_programs(0) + chunk) * OUT + o[:, None]) * IN + f[None, :]
    tl.store(parts + place, total, mask=(o[:, None] < OUT) & (f[None, :] < IN))


@triton.jit
def _sum_parts(parts, result, count, size, LANES: tl.constexpr):
    """result (M, size): the sum of parts (M, count, size) in their order."""
    at = tl.program_id(0) * LANES + tl.arange(0, LANES)
    member = tl.program_id(1).to(tl.int64)
    parts += member * count * size
    total = tl.zeros((LANES,), parts.dtype.element_ty)
    for _ in range(count):
        total += tl.load(parts + at, mask=at < size, other=0.0)
        parts += size
    tl.store(result + member * size + at, total, mask=at < size)


@triton.jit
def _sum_all(values, result, size, LANES: tl.constexpr):
    """result (M,): the sum of values (M, size), in lanes that are summed last."""
    member = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    total = tl.zeros((LANES,), values.dtype.element_ty)
    for start in range(0, size, LANES):
        total += tl.load(values + member * size + start + lane, mask=start + lane < size, other=0.0)
    tl.store(result + member, tl.sum(total, 0))


def sum_parts(parts: Tensor) -> Tensor:
    """Return the sum over the second axis of parts (M, count, ...), in its order."""
    members, count = parts.shape[:2]
    size = parts[0, 0].numel()
    result = parts.new_empty(members, *parts.shape[2:])
    _sum_parts[(triton.cdiv(size, LANES), members)](parts, result, count, size, LANES=LANES, enable_fp_fusion=True)
    return result


def sum_all(values: Tensor) -> Tensor:
    """Return the sums (M,) of values (M, ...), without gradients."""
    values = values.contiguous()
    result = values.new_empty(len(values))
    _sum_all[(len(values),)](values, result, values[0].numel(), LANES=LANES, enable_fp_fusion=True)
    return result


def product(x: Tensor, weight: Tensor) -> Tensor:
    """Return x W^T, (M, ..., outputs), x (M or 1, ..., features), W (M, outputs, features)."""
    rows = x.flatten(1, -2)
    result: Tensor = _Product.apply(rows.contiguous(), weight.contiguous())
    unflattened: Tensor = result.unflatten(1, x.shape[1:-1])
    return unflattened


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiply(x, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_result: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        d_result = d_result.contiguous()
        d_x = _multiply(d_result, weight, transposed=True) if ctx.needs_input_grad[0] else None
        return d_x, weight_gradient(x, d_result) if ctx.needs_input_grad[1] else None


def _multiply(x: Tensor, weight: Tensor, *, transposed: bool = False) -> Tensor:
    members, (rows, features) = len(weight), x.shape[1:]
    outputs = weight.shape[2 if transposed else 1]
    result = x.new_empty(members, rows, outputs)
    of_output, of_feature = (1, outputs) if transposed else (features, 1)
    blocks = {"ROWS": ROWS, "OUTPUTS": OUTPUTS, "FEATURES": FEATURES}
    _product[(triton.cdiv(rows, ROWS), triton.cdiv(outputs, OUTPUTS), members)](
        x=x, weight=weight, result=result, rows=rows, of_member_x=_stride(x), of_output=of_output,
        of_feature=of_feature, OUT=outputs, IN=features, **blocks, enable_fp_fusion=True,
    )  # fmt: skip
    return result


def weight_gradient(x: Tensor, d_result: Tensor) -> Tensor:
    """Return the gradient (M, outputs, features) of the weight of a product, of x and the gradient of its result."""
    members, rows, outputs = d_result.shape
    features, chunks = x.shape[2], triton.cdiv(rows, CHUNK)
    parts = x.new_empty(members, chunks, outputs, features)
    blocks = {"CHUNK": CHUNK, "ROWS": CHUNK_ROWS, "OUTPUTS": OUTPUTS, "FEATURES": FEATURES}
    _product_gradient[(chunks, triton.cdiv(outputs, OUTPUTS) * triton.cdiv(features, FEATURES), members)](
        x=x, d_result=d_result, parts=parts, rows=rows, of_member_x=_stride(x), OUT=outputs, IN=features, **blocks,
        enable_fp_fusion=True,
    )  # fmt: skip
    return sum_parts(parts)


def _stride(x: Tensor) -> int:
    """Return the numbers between two members; 0 where all have the same x."""
    return x.stride(0) if len(x) > 1 else 0


def add_to_rows(rows: Tensor, values: Tensor) -> Tensor:
    """Return rows (G, N, O) + values (G, O), with a gradient of the values whose bits depend on no other group."""
    result: Tensor = _AddToRows.apply(rows, values)
    return result


class _AddToRows(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, rows: Tensor, values: Tensor) -> Tensor:
        return rows + values.unsqueeze(1)

    @staticmethod
    @once_differentiable
    def backward(_ctx: Any, d_result: Tensor) -> tuple[Tensor, Tensor]:
        d_result = d_result.contiguous()
        ones = d_result.new_ones(1, d_result.shape[1], 1)
        return d_result, weight_gradient(ones, d_result)[..., 0]
