"""Buckets as a network: water and energy bound what leaves, snow is snow, and tags go the way of the water."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.contract import Inputs, State
from models.ensemble import simulate
from models.nets.bucket_scan import UNDERWAY
from models.nets.buckets import DAILY, STATIC, Buckets, values_of
from testing.networks import AUXILIARY, inputs
from testing.networks import STATIC as ATTRIBUTES

DTYPES = [torch.float32, torch.float64]
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-13}
TAGS = 3
STORE = ("discharge", "storage", "discharge_by_tag", "loss_by_tag")


def network(
    components: int = 3,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    embedding: int = 4,
    recurrence: str = "fastest",
) -> Buckets:
    """Return buckets that differ much, and move much with the weather."""
    torch.manual_seed(seed)
    net = Buckets(AUXILIARY, ATTRIBUTES, components, 8, embedding, antecedent_days=(3.0, 30.0), recurrence=recurrence)
    with torch.no_grad():
        for weights in net.parameters():
            weights.add_(0.3 * torch.randn(weights.shape))
    return net.to(dtype).eval()


def tagged(net: Buckets, days: int, samples: int, dtype: torch.dtype = torch.float64) -> tuple[Inputs, State]:
    """Return days whose rain bears one tag or another, and full cells whose water bears all of them."""
    generator = torch.Generator().manual_seed(samples)
    cells = net.empty_state(samples)
    shares = torch.rand(*cells["c"].shape, TAGS, generator=generator, dtype=torch.float64) + 0.01
    tags = (shares / shares.sum(-1, keepdim=True) * 8).to(dtype)
    drive = replace(inputs(days, samples, dtype=dtype), tag=torch.randint(TAGS, (days,), generator=generator))
    return drive, cells | {"c": tags.sum(-1), "tags": tags}


@given(
    components=st.integers(1, 20),
    samples=st.integers(1, 70),
    embedding=st.sampled_from([0, 4]),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from(DTYPES),
    recurrence=st.sampled_from(["fastest", "torch"]),
)
@settings(max_examples=30, deadline=None)
@torch.no_grad()
def test_every_drop_is_accounted_for_and_no_more_evaporates_than_the_air_takes_up(
    components: int, samples: int, embedding: int, seed: int, dtype: torch.dtype, recurrence: str
) -> None:
    net = network(components, seed, dtype, embedding, recurrence)
    drive = inputs(60, samples, seed, dtype)
    outputs, last = net(drive)
    fell = drive.mass[..., 0].double().cumsum(0)
    left = (outputs["discharge"] + outputs["loss"]).double().cumsum(0)
    residual = fell - left - outputs["storage"].double().sum(-1)
    assert (residual.abs() <= TOLERANCE[dtype] * fell).all()
    assert all((values >= 0).all() for values in outputs.values())
    assert torch.equal(last["c"], outputs["storage"][-1])
    assert torch.equal(outputs["loss"], outputs["evapotranspiration"] + outputs["leak"])
    assert drive.pet is not None
    assert (outputs["evapotranspiration"] <= drive.pet * (1 + TOLERANCE[dtype])).all()


def test_parameters_stay_within_their_ranges_whatever_the_weights() -> None:
    parameters = (*DAILY, *STATIC)
    found = values_of(parameters, torch.tensor([-1e9, 0.0, 1e9], dtype=torch.float64).repeat(len(parameters), 1, 1))
    for parameter in parameters:
        ends = found[parameter.name][0]
        assert ends.tolist() == pytest.approx([parameter.low, float(ends[1]), parameter.high])
        assert parameter.low < ends[1] < parameter.high


@torch.no_grad()
def test_water_that_falls_in_frost_is_in_the_snow_cells_and_none_is_after_a_warm_month() -> None:
    net = network(8)
    drive = inputs(90, 40)
    frost = replace(drive, temperature=torch.full((90, 40), -8.0, dtype=torch.float64))
    outputs, last = net(frost)
    snow = list(net.snow_cells)
    assert last["c"][:, snow].sum(1).tolist() == pytest.approx(drive.mass[..., 0].sum(0).tolist(), rel=1e-9)
    assert outputs["discharge"].abs().max() == 0
    warm = replace(drive, temperature=torch.full((90, 40), 15.0, dtype=torch.float64))
    outputs, last = net(warm, last)
    assert last["c"][:, snow].sum(1).max() < 0.2 * drive.mass.sum(0).max()
    assert outputs["discharge"].sum(0).min() > 0
    other = [cell for cell in range(last["c"].shape[1]) if cell not in net.snow_cells]
    assert len(other) == UNDERWAY + 3 * 8


@torch.no_grad()
@pytest.mark.parametrize("seed", range(3))
def test_more_rain_and_more_snow_lower_no_flow_and_return_no_more_than_fell(seed: int) -> None:
    net = network(4, seed)
    drive = inputs(120, 32, seed)
    water = drive.mass.clone()
    water[30] += 80
    usual, wetter = net(drive)[0], net(replace(drive, mass=water))[0]
    for name in ("discharge", "evapotranspiration", "leak", "storage"):
        assert (wetter[name] - usual[name]).min() >= -1e-9
    assert (wetter["discharge"] - usual["discharge"]).sum(0).max() <= 80 + 1e-9


@torch.no_grad()
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tags_add_up_to_all_water_and_change_none_of_its_bits(dtype: torch.dtype, recurrence: str) -> None:
    net = network(dtype=dtype, recurrence=recurrence)
    drive, state = tagged(net, 100, 37, dtype)
    outputs, last = net(drive, state)
    plain, _ = net(drive, {name: values for name, values in state.items() if name != "tags"})
    for name, values in plain.items():
        assert torch.equal(outputs[name], values)
    for name in ("discharge", "loss"):
        parts = outputs[f"{name}_by_tag"].double().sum(-1)
        assert ((parts - outputs[name]).abs() <= 2 * TOLERANCE[dtype] * outputs[name].clamp_min(0.01)).all()
    torch.testing.assert_close(last["tags"].sum(-1), last["c"])


@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("cut", [1, 17])
def test_neighbours_and_cuts_change_no_bit_of_a_tag(recurrence: str, cut: int) -> None:
    net = network(9, dtype=torch.float32, recurrence=recurrence)
    drive, start = tagged(net, 30, 75, torch.float32)
    state = {name: values.numpy() for name, values in start.items()}
    whole, last = simulate(net, drive, state, STORE)
    alone = drive.of_samples([40])
    first, between = simulate(net, alone.between(0, cut), {name: part[40:41] for name, part in state.items()}, STORE)
    second, after = simulate(net, alone.between(cut, 30), between, STORE)
    for name in STORE:
        assert np.array_equal(np.concatenate([first[name], second[name]], axis=1)[0], whole[name][40])
    assert np.array_equal(after["tags"][0], last["tags"][40])


def test_the_compiled_program_trains_as_the_equations() -> None:
    losses: list[list[float]] = []
    for recurrence in ("fastest", "torch"):
        net = network(seed=5, recurrence=recurrence).train()
        optimizer = torch.optim.Adam(net.parameters(), 0.01)
        losses.append([])
        for step in range(15):
            loss = net(inputs(40, 40, seed=step))[0]["discharge"][10:].square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_what_buckets_need_is_asked_for() -> None:
    net, drive = network(), inputs(5, 2)
    with pytest.raises(ValueError, match="need temperature and potential"):
        net(replace(drive, pet=None))
    with pytest.raises(ValueError, match="at least one day"):
        net(drive.between(0, 0))
