"""A member gets the same bits alone and among others, a basin likewise, and a run in one part or in two."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from triton.runtime import interpreter

from extensions.gpu import programs, simulation
from extensions.gpu.nets.members import MemberState, member_inputs, run, stack
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Scaler
from models.nets.mclstm import MCLSTM
from testing.networks import config, inputs, network, training_data

pytestmark = pytest.mark.extended

WANTED = ("discharge", "storage")


@pytest.fixture(autouse=True)
def _rows_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sum each row of the interpreter's products alike, as a card does: OpenBLAS has another order for some rows of a
    block on processors with AVX2."""

    def dot(_builder: Any, a: Any, b: Any, total: Any, *_: Any) -> Any:
        product = np.einsum("ij,jk->ik", a.data, b.data, dtype=total.data.dtype)
        return interpreter.TensorHandle(product + total.data, total.dtype.scalar)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", dot)


def networks(count: int, rank: int) -> list[MCLSTM]:
    return [
        network(5, seed, torch.float32, "triton", rank=rank, antecedent_days=(3.0,), wetness=True)
        for seed in range(count)
    ]


@pytest.mark.parametrize("rank", [0, 3])
def test_outputs_and_gradients_of_a_member_do_not_depend_on_the_others(rank: int) -> None:
    nets = networks(3, rank)
    drive = inputs(4, 2, dtype=torch.float32)

    def found(chosen: list[MCLSTM]) -> list[torch.Tensor]:
        weights = stack(chosen)
        empty = chosen[0].empty_state(2)
        state = MemberState(empty["c"].expand(len(chosen), -1, -1), empty["weather"].unsqueeze(0))
        outputs, _ = run(chosen[0], weights, member_inputs(chosen[0], drive), state)
        gradients = torch.autograd.grad(outputs["discharge"].square().sum(), list(weights.values()))
        return [outputs["storage"], *gradients]

    together = found(nets)
    for at, net in enumerate(nets):
        for own, among in zip(found([net]), together, strict=True):
            assert torch.equal(own[0], among[at])


@pytest.fixture
def ensemble() -> Ensemble:
    data = training_data()
    nets = tuple(networks(2, 3))
    return Ensemble(config(), Scaler.fit(data.forcing), (0, 1), nets, data.forcing.ids)


def equal(one: ArrayMap, other: ArrayMap) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_basins_alone_and_days_in_parts_change_no_bit(ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch) -> None:
    data = training_data().forcing
    some = replace(data, mass=data.mass[:, :9], auxiliary=data.auxiliary[:, :9])
    whole, last = ensemble.simulate(some, None, WANTED)
    alone, _ = ensemble.simulate(some.basins(np.array([1])), None, WANTED)
    assert equal(alone, {name: values[:, 1:2] for name, values in whole.items()})
    first = replace(some, mass=some.mass[:, :4], auxiliary=some.auxiliary[:, :4])
    rest = replace(
        some, first=some.first + np.timedelta64(4, "D"), mass=some.mass[:, 4:], auxiliary=some.auxiliary[:, 4:]
    )
    _, between = ensemble.simulate(first, None, WANTED)
    outputs, end = ensemble.simulate(rest, between, WANTED)
    assert equal(outputs, {name: values[:, :, 4:] for name, values in whole.items()})
    assert all(equal(one, other) for one, other in zip(end, last, strict=True))
    monkeypatch.setattr(simulation, "ROW_NUMBERS", 2 * len(some.ids) * 13 * 2)  # two days a launch
    launched, _ = ensemble.simulate(some, None, WANTED)
    assert equal(launched, whole)


def test_members_at_once_simulate_what_each_does_on_a_processor(ensemble: Ensemble) -> None:
    data = training_data().forcing
    some = replace(data, mass=data.mass[:, :9], auxiliary=data.auxiliary[:, :9])
    on_card, last = ensemble.simulate(some, None, WANTED)
    for net in ensemble.networks:
        assert isinstance(net, MCLSTM)
        net.recurrence = "fastest"
    on_processor, its_last = ensemble.simulate(some, None, WANTED)
    for name, values in on_processor.items():
        np.testing.assert_allclose(on_card[name], values, rtol=2e-6, atol=2e-6)
    for one, other in zip(last, its_last, strict=True):
        assert one.keys() == other.keys()
        np.testing.assert_allclose(one["c"], other["c"], rtol=2e-6, atol=2e-6)


def test_days_without_weather_are_refused(ensemble: Ensemble) -> None:
    data = training_data().forcing
    some = replace(data, mass=data.mass[:, :3].copy(), auxiliary=data.auxiliary[:, :3])
    some.mass[0, 1] = np.nan
    with pytest.raises(ValueError, match="cannot skip a day"):
        ensemble.simulate(some, None, WANTED)
    some.mass[0, 1] = 0
    empty = replace(some, mass=some.mass[:, :0], auxiliary=some.auxiliary[:, :0])
    with pytest.raises(ValueError, match="at least one day"):
        ensemble.simulate(empty, None, WANTED)


def test_an_ensemble_whose_outputs_are_large_runs_some_members_at_a_time(
    ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = training_data().forcing
    some = replace(data, mass=data.mass[:, :3], auxiliary=data.auxiliary[:, :3])
    whole, last = ensemble.simulate(some, None, WANTED)
    monkeypatch.setattr(programs, "HELD_NUMBERS", 1)
    again, its_last = ensemble.simulate(some, None, WANTED)
    assert equal(again, whole)
    assert all(equal(one, other) for one, other in zip(its_last, last, strict=True))
