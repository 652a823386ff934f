"""The same basin gets the same bits, whatever runs beside it and wherever its run is cut."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.contract import Inputs
from models.ensemble import simulate
from models.nets.layers import BLOCK
from testing.networks import inputs, network
from tests.models.nets.test_mclstm import RANKS

STORE = ("discharge", "loss", "storage")
RECURRENCES: list[str] = ["fastest", "torch"]
DTYPES = [torch.float32, torch.float64]


def chosen(drive: Inputs, samples: list[int]) -> Inputs:
    return Inputs(drive.mass[:, samples], drive.auxiliary[:, samples], drive.static[samples])


@given(
    cells=st.integers(2, 40),
    samples=st.integers(1, 3 * BLOCK),
    seed=st.integers(0, 99),
    dtype=st.sampled_from(DTYPES),
    recurrence=st.sampled_from(RECURRENCES),
    rank=st.sampled_from(RANKS),
)
@settings(max_examples=40, deadline=None)
def test_neighbours_change_no_bit(
    cells: int, samples: int, seed: int, dtype: torch.dtype, recurrence: str, rank: int
) -> None:
    net = network(cells, seed, dtype, recurrence, rank=rank, antecedent_days=(2.0, 20.0))
    drive = inputs(20, samples, seed, dtype)
    together, last = simulate(net, drive, None, STORE)
    some = np.random.default_rng(seed).permutation(samples)[: samples // 2 + 1].tolist()
    alone, alone_last = simulate(net, chosen(drive, some), None, STORE)
    for name in STORE:
        assert np.array_equal(alone[name], together[name][some])
    for name in ("c", "weather"):
        assert np.array_equal(alone_last[name], last[name][some])


@given(
    cells=st.integers(2, 40),
    cut=st.integers(1, 29),
    dtype=st.sampled_from(DTYPES),
    recurrence=st.sampled_from(RECURRENCES),
    rank=st.sampled_from(RANKS),
)
@settings(max_examples=40, deadline=None)
def test_a_split_run_with_the_state_carried_gives_the_bits_of_the_whole(
    cells: int, cut: int, dtype: torch.dtype, recurrence: str, rank: int
) -> None:
    net = network(cells, cut, dtype, recurrence, rank=rank, antecedent_days=(2.0, 20.0))
    drive = inputs(30, 5, cut, dtype)
    whole, last = simulate(net, drive, None, STORE)
    first, state = simulate(net, drive.between(0, cut), None, STORE)
    second, state = simulate(net, drive.between(cut, 30), state, STORE)
    for name in STORE:
        assert np.array_equal(np.concatenate([first[name], second[name]], axis=1), whole[name])
    for name in ("c", "weather"):
        assert np.array_equal(state[name], last[name])


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_the_training_path_agrees_alone_and_in_a_batch_of_256_whole_and_split(
    dtype: torch.dtype, tolerance: float
) -> None:
    net = network(64, 1, dtype)
    drive = inputs(120, 256, 1, dtype)
    with torch.no_grad():
        together, last = net(drive)
        scale = float(together["discharge"].max()) * tolerance
        for sample in (0, 100, 255):
            alone, _ = net(chosen(drive, [sample]))
            assert (alone["discharge"][:, 0] - together["discharge"][:, sample]).abs().max() <= scale
        first, state = net(drive.between(0, 47))
        second, state = net(drive.between(47, 120), state)
    split = torch.cat([first["discharge"], second["discharge"]])
    assert (split - together["discharge"]).abs().max() <= scale
    assert (state["c"] - last["c"]).abs().max() <= tolerance * float(last["c"].max())


def test_outputs_are_what_the_network_gives() -> None:
    net, drive = network(7), inputs(15, 3)
    outputs, _ = simulate(net, drive, None, STORE)
    with torch.no_grad():
        direct, _ = net(drive)
    assert outputs["storage"].shape == (3, 15, 7)
    np.testing.assert_allclose(outputs["storage"], direct["storage"].swapaxes(0, 1).numpy(), rtol=1e-12)
