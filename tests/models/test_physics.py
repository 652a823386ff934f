"""The probes of physics: each fails on a network with its fault built in, and all pass on ours."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.contract import Inputs, Outputs, State
from models.nets.mclstm import MCLSTM
from models.networks import ARCHITECTURES
from models.physics import PROBES, measure
from testing.networks import AUXILIARY, STATIC
from tests.models.nets.test_networks import ready

pytestmark = pytest.mark.extended

OF_ANY_NETWORK = {probe.name for probe in PROBES if not probe.of_water}
EVERY_PROBE = {probe.name for probe in PROBES}


def failures(network: MCLSTM) -> set[str]:
    return {result.name for result in measure([network], AUXILIARY, STATIC) if not result.passes}


def faulty(forward: Callable[[MCLSTM, Inputs, State | None], tuple[Outputs, State]]) -> MCLSTM:
    """Return an MC-LSTM with another forward pass; the one that it stands for is `MCLSTM.forward`."""
    torch.manual_seed(0)
    faulty_class: type[MCLSTM] = type("Faulty", (MCLSTM,), {"forward": forward})
    return faulty_class(AUXILIARY, STATIC, cells=8)


def changed(outputs: Outputs, **changes: Tensor) -> Mapping[str, Tensor]:
    return {**outputs, **changes}


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_every_network_passes_its_probes(architecture: str) -> None:
    network = ready(architecture, dtype=torch.float32)

    results = measure([network, network], AUXILIARY, STATIC)

    assert [result.name for result in results if not result.passes] == []
    asked = EVERY_PROBE if network.conserving else OF_ANY_NETWORK
    assert {result.name for result in results} == asked


def test_a_leak_is_found() -> None:
    def leak(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        outputs, last = MCLSTM.forward(network, inputs, state)
        return changed(outputs, discharge=outputs["discharge"] * 0.99), last

    assert "closure" in failures(faulty(leak))


def test_a_bias_that_is_not_a_number_fails_every_probe_without_a_value() -> None:
    network = MCLSTM(AUXILIARY, STATIC, cells=8, recurrence="torch")
    torch.nn.init.constant_(network.output_gate.bias, torch.nan)

    results = measure([network], AUXILIARY, STATIC)

    assert {result.name for result in results if result.value is None} == EVERY_PROBE
    assert not any(result.passes for result in results)


def test_one_bad_member_fails_the_ensemble() -> None:
    network = MCLSTM(AUXILIARY, STATIC, cells=8)
    broken = MCLSTM(AUXILIARY, STATIC, cells=8, recurrence="torch")
    torch.nn.init.constant_(broken.output_gate.bias, torch.nan)

    for members in ([network, broken], [broken, network]):
        assert not any(result.passes for result in measure(members, AUXILIARY, STATIC))


def test_a_norm_over_the_batch_is_found() -> None:
    def coupled(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        centred = inputs.auxiliary - inputs.auxiliary.mean(dim=1, keepdim=True)
        return MCLSTM.forward(network, replace(inputs, auxiliary=centred), state)

    assert failures(faulty(coupled)) == {"batch invariance"}


def test_a_look_at_tomorrow_is_found() -> None:
    def peeking(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        return MCLSTM.forward(network, replace(inputs, auxiliary=inputs.auxiliary.roll(-1, 0)), state)

    assert "causality" in failures(faulty(peeking))


def test_a_negative_gate_is_found() -> None:
    def negative(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        outputs, last = MCLSTM.forward(network, inputs, state)
        taken = torch.full_like(outputs["loss"], 0.5)
        return changed(outputs, loss=outputs["loss"] - taken, discharge=outputs["discharge"] + taken), last

    assert "non-negativity" in failures(faulty(negative))


def test_a_state_that_is_forgotten_is_found() -> None:
    def forgetful(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:  # noqa: ARG001
        return MCLSTM.forward(network, inputs, None)

    assert "restart" in failures(faulty(forgetful))


def test_a_spring_that_no_rain_feeds_is_found() -> None:
    def spring(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        outputs, last = MCLSTM.forward(network, inputs, state)
        return changed(outputs, discharge=outputs["discharge"] + 0.2), last

    assert {"dry-down", "closure"} <= failures(faulty(spring))


def test_rain_that_is_lost_on_the_way_in_is_found() -> None:
    def capped(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        return MCLSTM.forward(network, replace(inputs, mass=inputs.mass.clamp(max=15.0)), state)

    assert "added rain" in failures(faulty(capped))


def test_outflow_above_the_stored_water_is_found() -> None:
    def flood(network: MCLSTM, inputs: Inputs, state: State | None) -> tuple[Outputs, State]:
        outputs, last = MCLSTM.forward(network, inputs, state)
        return changed(outputs, discharge=outputs["discharge"] * 40), last

    assert "boundedness" in failures(faulty(flood))
