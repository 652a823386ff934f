"""A network may learn a vector of each basin: it turns the gates there, and nowhere else."""

from dataclasses import replace

import pytest
import torch

from models.contract import Inputs, with_room
from models.ensemble import simulate
from models.forcing import Scaler, places
from models.nets.mclstm import MCLSTM
from models.training import MemberTraining
from testing.networks import AUXILIARY, STATIC, config, inputs, training_data
from tests.models.nets.test_mclstm import worst_residual

BASINS, SIZE = 5, 3


def network(dropout: float = 0.0) -> MCLSTM:
    torch.manual_seed(2)
    net = MCLSTM(AUXILIARY, STATIC, 6, 4, 8, SIZE, dropout, output_gate_bias=-1.0).double()
    net.learn_from(BASINS)
    return net.double().eval()


def like_each_other(basin: list[int]) -> Inputs:
    """Return samples of the same weather and attributes."""
    drive, count = inputs(30, 1), len(basin)
    same = Inputs(
        drive.mass.expand(-1, count, -1), drive.auxiliary.expand(-1, count, -1), drive.static.expand(count, -1)
    )
    return replace(same, basin=torch.tensor(basin))


def discharge(net: MCLSTM, drive: Inputs) -> torch.Tensor:
    """Return (B, T) as it is served, or in training as it is trained."""
    if not net.training:
        return torch.as_tensor(simulate(net, drive, None, ["discharge"])[0]["discharge"])
    with torch.no_grad():
        return net(drive)[0]["discharge"].T


def test_a_basin_has_its_own_vector_whoever_runs_beside_it() -> None:
    net = network()
    first, second, again = discharge(net, like_each_other([3, 1, 3]))
    assert torch.equal(first, again)
    assert not torch.allclose(first, second)
    assert torch.equal(discharge(net, like_each_other([1]))[0], second)


def test_a_basin_that_was_never_seen_has_zeros() -> None:
    net = network()
    unseen = discharge(net, like_each_other([-1, 2]))[0]
    assert torch.equal(discharge(net, replace(like_each_other([-1]), basin=None))[0], unseen)
    with torch.no_grad():
        net.vectors.table[2] = 0  # type: ignore[union-attr]
    assert torch.equal(discharge(net, like_each_other([2]))[0], unseen)


def test_vectors_touch_no_water() -> None:
    assert worst_residual(network(), like_each_other([0, 4, -1]), torch.full((3, 6), 20.0).double()) <= 1e-12


def test_whole_vectors_are_left_out_in_training_and_never_otherwise() -> None:
    net, drive = network(dropout=0.4), like_each_other([2] * 500)
    assert len(discharge(net, drive).unique(dim=0)) == 1
    net.train()
    unseen = discharge(net, like_each_other([-1]))[0]
    torch.manual_seed(0)
    results = discharge(net, drive)
    assert len(results.unique(dim=0)) == 2
    left_out = torch.isclose(results, unseen, rtol=1e-12).all(dim=1).sum()
    assert 160 < left_out < 240


def test_training_learns_vectors_of_the_basins_it_draws() -> None:
    data = training_data(basins=3)
    scaler = Scaler.fit(data.forcing)
    member = MemberTraining(config(network={"cells": 4, "basin_vector": SIZE, "vector_dropout": 0.5}), data, scaler, 0)
    before = member.network.state_dict()["vectors.table"].clone()
    after = member.run().last["vectors.table"]
    assert before.shape == (3, SIZE)
    assert (before.abs() < 0.25).all()
    assert (after != before).all()


def test_a_basin_retains_its_place_by_its_id() -> None:
    assert places(("b", "x", "a"), ("c", "a", "b")).tolist() == [1, -1, 0]


def test_a_table_with_room_for_more_retains_what_it_knows() -> None:
    table = torch.arange(4.0).reshape(2, 2)
    assert with_room(table, torch.tensor([0, 2]), 3).tolist() == [[0, 1], [0, 0], [2, 3]]


@pytest.mark.parametrize("basin", [[0, -1], [4, 4]])
def test_the_gradient_reaches_the_vectors_of_the_samples_alone(basin: list[int]) -> None:
    net = network().train()
    net(like_each_other(basin))[0]["discharge"].sum().backward()
    table = net.vectors.table.grad  # type: ignore[union-attr]
    assert table is not None
    assert table.abs().sum(1).nonzero().flatten().tolist() == sorted({at for at in basin if at >= 0})
