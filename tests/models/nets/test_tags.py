"""Water with tags: every tag goes the way of all water, through the gates of all water."""

import platform
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.contract import Inputs, Outputs, State
from models.ensemble import simulate
from models.nets.buckets import Buckets
from models.nets.compiled import loader
from models.nets.compiled.variants import VARIANTS, Variant, built_for, machine_of
from models.nets.mclstm import MCLSTM
from testing.networks import AUXILIARY, STATIC, inputs, kill_columns, network
from tests.models.nets.test_mclstm import RANKS, TOLERANCE

pytestmark = pytest.mark.extended

TAGS = 3
STORE = ("discharge", "storage", "discharge_by_tag", "loss_by_tag")


def tagged(net: MCLSTM, days: int, samples: int, seed: int = 0) -> tuple[Inputs, State]:
    """Return days whose rain bears one tag or another, and full cells whose water bears all of them."""
    generator, dtype = torch.Generator().manual_seed(seed), net.output_gate.weight.dtype
    tag = torch.randint(TAGS, (days,), generator=generator)
    shares = torch.rand(samples, net.cells, TAGS, generator=generator, dtype=torch.float64)
    water = torch.rand(samples, net.cells, 1, generator=generator, dtype=torch.float64) * 100
    tags = (water * shares / shares.sum(-1, keepdim=True)).to(dtype)
    return replace(inputs(days, samples, seed, dtype), tag=tag), {"c": tags.sum(-1), "tags": tags}


@torch.no_grad()
def run(net: MCLSTM, drive: Inputs, state: State) -> tuple[Outputs, State]:
    """Return what a network makes of tagged water, which changes no bit of all water."""
    outputs, last = net(drive, state)
    untagged, _ = net(drive, {name: values for name, values in state.items() if name != "tags"})
    for name, values in untagged.items():
        assert torch.equal(outputs[name], values)
    return outputs, last


@given(
    cells=st.integers(2, 40),
    samples=st.integers(1, 70),
    dead=st.integers(0, 40),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    recurrence=st.sampled_from(["fastest", "torch"]),
    rank=st.sampled_from(RANKS),
    wetness=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_tags_add_up_to_all_water_and_each_closes_its_own_ledger(
    cells: int, samples: int, dead: int, seed: int, dtype: torch.dtype, recurrence: str, rank: int, wetness: bool
) -> None:
    net = network(cells, seed, dtype, recurrence, rank=rank, wetness=wetness)
    kill_columns(net, list(range(min(dead, cells))))
    drive, state = tagged(net, 40, samples, seed)
    outputs, last = run(net, drive, state)

    rounding = {torch.float32: 1e-6, torch.float64: 1e-14}[dtype]
    for name in ("discharge", "loss"):
        parts = outputs[f"{name}_by_tag"].double().sum(-1)
        assert ((parts - outputs[name]).abs() <= rounding * outputs[name].clamp_min(0.01)).all()
    assert (last["tags"] >= 0).all()

    rain, tag = drive.mass.double().sum(-1), drive.tag
    assert tag is not None
    fell = torch.stack([rain[tag == number].sum(0) for number in range(TAGS)], -1)
    left = sum((outputs[name].double().sum(0) for name in ("discharge_by_tag", "loss_by_tag")), torch.zeros(()))
    came = state["tags"].double().sum(1) + fell
    residual = came - left - last["tags"].double().sum(1)
    assert (residual.abs() <= TOLERANCE[dtype] * came).all()


@pytest.mark.parametrize("cells", [2, 5, 16])
@pytest.mark.parametrize("dead", [0, 2])
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("rank", RANKS)
def test_tags_are_routed_by_the_equations(cells: int, dead: int, recurrence: str, rank: int) -> None:
    fast, plain = network(cells, recurrence=recurrence, rank=rank), network(cells, recurrence="plain", rank=rank)
    assert_routed_alike(fast, plain, dead)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_library_that_runs_here_routes_tags_by_the_equations(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variant not in built_for(machine_of(platform.machine())) or variant.lacking(torch.cpu.get_capabilities()):
        pytest.skip(f"This processor cannot run {variant.name}.")
    functions = loader.load(variant)
    monkeypatch.setattr(loader, "library", lambda: functions)
    assert_routed_alike(network(24, rank=16), network(24, recurrence="plain", rank=16), dead=0)


def assert_routed_alike(fast: MCLSTM, plain: MCLSTM, dead: int) -> None:
    for net in (fast, plain):
        kill_columns(net, list(range(dead)))
    drive, state = tagged(plain, 30, 37)
    (outputs, last), (wanted, wanted_last) = run(fast, drive, state), run(plain, drive, state)
    for name in ("discharge_by_tag", "loss_by_tag"):
        torch.testing.assert_close(outputs[name], wanted[name], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(last["tags"], wanted_last["tags"], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
def test_tags_still_add_up_after_years_in_single_precision(recurrence: str) -> None:
    net = network(8, dtype=torch.float32, recurrence=recurrence)
    with torch.no_grad():
        net.output_gate.bias.fill_(-9)  # a store that hardly changes
        net.output_gate.weight.zero_()
    drive, state = tagged(net, 3000, 3)
    dry = replace(drive, mass=torch.zeros_like(drive.mass))
    outputs, last = run(net, dry, state)
    parts = outputs["discharge_by_tag"].double().sum(-1)
    torch.testing.assert_close(parts.float(), outputs["discharge"], rtol=1e-6, atol=0)
    torch.testing.assert_close(last["tags"].sum(-1), last["c"], rtol=1e-6, atol=0)


@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("cut", [1, 17])
def test_neighbours_and_cuts_change_no_bit_of_a_tag(recurrence: str, cut: int) -> None:
    net = network(12, dtype=torch.float32, recurrence=recurrence, rank=16)
    drive, start = tagged(net, 30, 75)
    state = {name: values.numpy() for name, values in start.items()}
    whole, last = simulate(net, drive, state, STORE)
    alone = Inputs(drive.mass[:, 40:41], drive.auxiliary[:, 40:41], drive.static[40:41], tag=drive.tag)
    first, between = simulate(net, alone.between(0, cut), {name: part[40:41] for name, part in state.items()}, STORE)
    second, after = simulate(net, alone.between(cut, 30), between, STORE)
    for name in STORE:
        assert np.array_equal(np.concatenate([first[name], second[name]], axis=1)[0], whole[name][40])
    assert np.array_equal(after["tags"][0], last["tags"][40])


def test_water_without_a_tag_is_refused() -> None:
    net = network(4)
    drive, state = tagged(net, 5, 2)
    with pytest.raises(ValueError, match="falls needs a tag"):
        net(replace(drive, tag=None), state)
    with pytest.raises(ValueError, match="do not add up"):
        net(drive, state | {"c": state["c"] + 1})


@pytest.mark.parametrize("architecture", [MCLSTM, Buckets])
def test_days_with_an_unknown_tag_or_none_are_refused(architecture: type[MCLSTM | Buckets]) -> None:
    net = architecture(AUXILIARY, STATIC).double()
    drive, state = inputs(5, 2), net.empty_state(2)
    state["tags"] = state["c"].new_zeros(*state["c"].shape, TAGS)
    net(replace(drive, tag=torch.tensor([0, 1, 2, 1, 0])), state)
    for tag in ([0, 1, 2, 1, 3], [0, 1, 2, 1, -1], [0, 1, 2, 1], [1]):
        with pytest.raises(ValueError, match="needs one of the 3 tags"):
            net(replace(drive, tag=torch.tensor(tag)), state)
    for tags in (state["tags"][:1], state["tags"].float()):
        with pytest.raises(ValueError, match="tagged water has the shape"):
            net(replace(drive, tag=torch.zeros(5, dtype=torch.int64)), state | {"tags": tags})
