"""What the service asks of every network, whichever it is."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import Period
from jobspec.network import sized
from jobspec.training import Cosine, TrainingConfig
from models.checkpoint import dump, parse
from models.contract import Inputs, Network, WaterScales
from models.ensemble import simulate
from models.forcing import Scaler
from models.learning import TrainingData
from models.nets.layers import BLOCK
from models.networks import ARCHITECTURES, build
from models.training import MemberTraining
from testing.networks import config, inputs, training_data

EVERY = sorted(ARCHITECTURES)
DTYPES = [torch.float32, torch.float64]
WATER = WaterScales(mass_mean=3.0, mass_sd=7.0, discharge_mean=1.5, discharge_sd=2.5)


def configured(architecture: str, cells: int, **changes: Any) -> TrainingConfig:
    return config(network=sized(architecture, cells), **changes)


def ready(architecture: str, cells: int = 12, seed: int = 0, dtype: torch.dtype = torch.float64) -> Network:
    settings = configured(architecture, cells)
    network = build(settings.network, settings.inputs, seed)
    network.scale_to(WATER)
    with torch.no_grad():  # away from a start at which some parts do nothing
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)))
    return network.to(dtype).eval()


def chosen(drive: Inputs, samples: list[int]) -> Inputs:
    return drive.of_samples(samples)


def drivers(network: Network, days: int, samples: int, seed: int, dtype: torch.dtype) -> Inputs:
    """Return wet and dry days; for a network that skips gaps, with gaps."""
    drive = inputs(days, samples, seed, dtype)
    if not network.skips_gaps:
        return drive
    mask = torch.rand(days, samples, generator=torch.Generator().manual_seed(seed)) > 0.3
    return Inputs(drive.mass, drive.auxiliary, drive.static, mask=mask)


@pytest.mark.parametrize("architecture", EVERY)
@given(
    cells=st.integers(2, 40), samples=st.integers(1, 2 * BLOCK), seed=st.integers(0, 99), dtype=st.sampled_from(DTYPES)
)
@settings(max_examples=12, deadline=None)
def test_neighbours_change_no_bit(architecture: str, cells: int, samples: int, seed: int, dtype: torch.dtype) -> None:
    network = ready(architecture, cells, seed, dtype)
    drive = drivers(network, 9, samples, seed, dtype)
    together, last = simulate(network, drive, None, ("discharge",))
    some = np.random.default_rng(seed).permutation(samples)[: samples // 2 + 1].tolist()
    alone, alone_last = simulate(network, chosen(drive, some), None, ("discharge",))
    assert np.array_equal(alone["discharge"], together["discharge"][some], equal_nan=True)
    for name, values in last.items():
        assert np.array_equal(alone_last[name], values[some])


@pytest.mark.parametrize("architecture", EVERY)
def test_a_state_of_other_samples_cells_or_numbers_is_refused(architecture: str) -> None:
    network = ready(architecture)
    drive, state = drivers(network, 5, 4, 0, torch.float64), network.empty_state(4)
    for name, values in state.items():
        for wrong in (values[:1], values[..., :-1], values.float()):
            with pytest.raises(ValueError, match=f"state's {name} has"):
                network(drive, {**state, name: wrong})
        with pytest.raises(ValueError, match=f"state's {name} is missing"):
            network(drive, {"another": values, **{other: state[other] for other in state if other != name}})


@pytest.mark.parametrize("architecture", EVERY)
@given(cells=st.integers(2, 40), cut=st.integers(1, 14), dtype=st.sampled_from(DTYPES))
@settings(max_examples=12, deadline=None)
def test_a_split_run_gives_the_bits_of_the_whole(architecture: str, cells: int, cut: int, dtype: torch.dtype) -> None:
    network = ready(architecture, cells, cut, dtype)
    drive = drivers(network, 15, 5, cut, dtype)
    whole, last = simulate(network, drive, None, ("discharge",))
    first, state = simulate(network, drive.between(0, cut), None, ("discharge",))
    second, state = simulate(network, drive.between(cut, 15), state, ("discharge",))
    halves = np.concatenate([first["discharge"], second["discharge"]], axis=1)
    assert np.array_equal(halves, whole["discharge"], equal_nan=True)
    for name, values in last.items():
        assert np.array_equal(state[name], values)


@pytest.mark.parametrize("architecture", EVERY)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_the_training_path_agrees_with_itself_and_with_the_inference_path(
    architecture: str, dtype: torch.dtype, tolerance: float
) -> None:
    network = ready(architecture, 32, 1, dtype)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    drive = drivers(network, 60, 256, 1, dtype)
    served, _ = simulate(network, drive, None, ("discharge",))
    network.train()
    together, last = network(drive)
    scale = float(together["discharge"].detach().nan_to_num().abs().max()) * tolerance
    for sample in (0, 100, 255):
        alone, _ = network(chosen(drive, [sample]))
        assert (alone["discharge"][:, 0] - together["discharge"][:, sample]).nan_to_num().abs().max() <= scale
    first, state = network(drive.between(0, 23))
    second, state = network(drive.between(23, 60), state)
    split = torch.cat([first["discharge"], second["discharge"]])
    assert (split - together["discharge"]).nan_to_num().abs().max() <= scale
    for name, values in last.items():
        assert (state[name] - values).abs().max() <= tolerance * float(values.detach().abs().max().clamp_min(1))
    same = together["discharge"].detach().clamp_min(0).T.numpy()
    assert np.array_equal(np.isnan(same), np.isnan(served["discharge"]))
    assert np.nanmax(np.abs(same - served["discharge"])) <= scale


@pytest.mark.parametrize("architecture", EVERY)
def test_weights_come_back_from_a_checkpoint_with_their_bits(architecture: str) -> None:
    network = ready(architecture, seed=4, dtype=torch.float32)
    again = ready(architecture, seed=5, dtype=torch.float32)
    tensors, _ = parse(dump(network.state_dict(), {}))
    again.load_state_dict(tensors)
    drive = drivers(network, 20, 3, 0, torch.float32)
    one, _ = simulate(network, drive, None, ("discharge",))
    other, _ = simulate(again, drive, None, ("discharge",))
    assert np.array_equal(one["discharge"], other["discharge"], equal_nan=True)


def member(architecture: str, data: TrainingData, **changes: Any) -> MemberTraining:
    scaler = Scaler.fit(data.forcing.over(Period.parse("2001-01-01..2002-12-31")))
    return MemberTraining(configured(architecture, 8, **changes), data, scaler, seed=3)


@pytest.mark.extended
@pytest.mark.parametrize("architecture", EVERY)
def test_a_resumed_training_equals_an_uninterrupted_one(architecture: str) -> None:
    blobs: dict[int, bytes] = {}
    whole = member(architecture, training_data()).run(on_checkpoint=blobs.__setitem__)
    resumed = member(architecture, training_data())
    resumed.resume(blobs[6])
    finished = resumed.run()
    assert whole.last.keys() == finished.last.keys()
    assert all(torch.equal(values, finished.last[name]) for name, values in whole.last.items())
    assert finished.log == whole.log


@pytest.mark.extended
@pytest.mark.parametrize("architecture", EVERY)
def test_every_network_learns(architecture: str) -> None:
    schedule = Cosine(steps=80, warmup_steps=5, peak_learning_rate=0.03)
    trained = member(architecture, training_data(), schedule=schedule, validate_every=40).run()
    assert max(row["validation_nse"] for row in trained.log) > 0.3
    assert trained.seconds > 0


@pytest.mark.parametrize("architecture", EVERY)
def test_a_schedule_without_rates_gets_those_of_its_network(architecture: str) -> None:
    named = configured(architecture, 8, schedule={"kind": "cosine", "steps": 9, "peak_learning_rate": 0.5}).schedule
    assert isinstance(named, Cosine)
    assert named.peak_learning_rate == 0.5
    peaks = dict.fromkeys(EVERY, 0.003) | {"mclstm": 0.01, "buckets": 0.01}
    own = configured(architecture, 8, schedule={"kind": "cosine", "steps": 9}).schedule
    assert isinstance(own, Cosine)
    assert own.peak_learning_rate == peaks[architecture]


def test_a_configuration_without_an_architecture_is_an_mclstm() -> None:
    assert config(network={"cells": 7}).network.architecture == "mclstm"


@pytest.mark.parametrize("architecture", [name for name in EVERY if not ARCHITECTURES[name].conserving])
def test_a_network_that_does_not_conserve_mass_scales_its_water_by_the_training_period(architecture: str) -> None:
    data = training_data()
    network = member(architecture, data).network
    days = slice(366, 366 + 730)
    mass, discharge = data.forcing.mass[:, days].astype(float), data.discharge[:, days].astype(float)
    buffers = dict(network.named_buffers())
    assert buffers["precipitation"].tolist() == pytest.approx([mass.mean(), mass.std()], rel=1e-6)
    assert buffers["streamflow"].tolist() == pytest.approx([np.nanmean(discharge), np.nanstd(discharge)], rel=1e-6)


@pytest.mark.parametrize("architecture", [name for name in EVERY if not ARCHITECTURES[name].conserving])
def test_a_discharge_is_never_negative(architecture: str) -> None:
    network = ready(architecture)
    network.scale_to(WaterScales(3.0, 7.0, -50.0, 2.5))
    outputs, _ = simulate(network, inputs(10, 2), None, ("discharge",))
    assert (outputs["discharge"] == 0).all()


@pytest.mark.parametrize("architecture", [name for name in EVERY if not ARCHITECTURES[name].skips_gaps])
def test_a_network_that_skips_nothing_refuses_a_gap(architecture: str) -> None:
    drive = inputs(3, 2)
    mask = torch.ones(3, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match="cannot skip"):
        ready(architecture)(Inputs(drive.mass, drive.auxiliary, drive.static, mask=mask))


def test_the_lstms_forget_gate_starts_open() -> None:
    settings = config(network={"architecture": "lstm", "cells": 5, "forget_bias": 3.0})
    weights = build(settings.network, settings.inputs, 0).state_dict()
    assert (weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"])[5:10].tolist() == [3.0] * 5


@pytest.mark.extended
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_number_of_threads_changes_no_bit(architecture: str) -> None:
    net, drive = ready(architecture), inputs(60, 3 * BLOCK)
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            results.append(simulate(net, drive, None, wanted=("discharge",)))
    finally:
        torch.set_num_threads(before)
    for outputs, state in results[1:]:
        np.testing.assert_array_equal(outputs["discharge"], results[0][0]["discharge"])
        assert all(np.array_equal(values, results[0][1][part]) for part, values in state.items())
