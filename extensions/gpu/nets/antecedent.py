"""The means of the past weather of many samples, all days in one launch; `models.nets.layers` describes them."""

import triton
import triton.language as tl
from torch import Tensor


@triton.jit(do_not_specialize=["days"])
def _accumulate(weather, retention, first, means, days, V: tl.constexpr, A: tl.constexpr, LANES: tl.constexpr):
    """means (samples, T, A V) of weather (samples, T, V), from `first` (samples, A V)."""
    sample = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    inside = lane < A * V
    stored = tl.load(retention + lane // V, mask=inside, other=0.0)
    mean = tl.load(first + sample * (A * V) + lane, mask=inside, other=0.0)
    weather += sample * days * V + lane % V
    x = tl.load(weather, mask=inside, other=0.0)
    for t in range(days):
        mean = x * (1.0 - stored) + stored * mean
        x = tl.load(weather + (t + 1) * V, mask=lane < A * V * tl.where(t + 1 < days, 1, 0), other=0.0)
        tl.store(means + (sample * days + t) * (A * V) + lane, mean, mask=inside)


def accumulate(weather: Tensor, retention: Tensor, first: Tensor) -> Tensor:
    """Return means (..., T, A V) after every day of weather (..., T, V), from `first` (..., A V), by retention (A,)."""
    days, values = weather.shape[-2:]
    means = weather.new_empty(*weather.shape[:-1], len(retention) * values)
    _accumulate[(first[..., 0].numel(),)](
        weather.contiguous(), retention.to(weather), first.contiguous(), means, days,
        V=values, A=len(retention), LANES=triton.next_power_of_2(len(retention) * values), num_warps=1,
        enable_fp_fusion=True,
    )  # fmt: skip
    return means
