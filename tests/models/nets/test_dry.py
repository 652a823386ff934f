"""Where nothing falls, a network that conserves water gives what it holds, and no more."""

from dataclasses import replace

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.networks import inputs, network
from tests.models.nets.test_mclstm import RANKS, TOLERANCE


@given(
    cells=st.integers(2, 40),
    samples=st.integers(1, 20),
    days=st.integers(1, 200),
    seed=st.integers(0, 1000),
    rank=st.sampled_from(RANKS),
)
@settings(max_examples=40, deadline=None)
@torch.no_grad()
def test_no_more_runs_off_than_was_stored_and_all_else_is_lost_or_left(
    cells: int, samples: int, days: int, seed: int, rank: int
) -> None:
    net = network(cells, seed, torch.float32, rank=rank)
    weather = inputs(days, samples, seed, torch.float32)
    held = torch.rand(samples, cells, generator=torch.Generator().manual_seed(seed)) * 100
    outputs, last = net(replace(weather, mass=torch.zeros_like(weather.mass)), {"c": held})
    ceiling, rounding = held.double().sum(1), TOLERANCE[torch.float32]
    runs_off, lost = (outputs[name].double().sum(0) for name in ("discharge", "loss"))
    assert (runs_off <= ceiling * (1 + rounding)).all()
    assert ((runs_off + lost + last["c"].double().sum(1) - ceiling).abs() <= ceiling * rounding).all()
