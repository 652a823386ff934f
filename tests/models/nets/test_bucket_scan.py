"""The days of buckets: the compiled ones are those of the equations, with their gradients, and lose no water."""

import platform
from types import ModuleType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models.nets import bucket_scan
from models.nets.bucket_scan import DELAYS, PATHS, STORES, UNDERWAY, Constants, Drivers
from models.nets.compiled import bucket_recurrence, loader
from models.nets.compiled.variants import VARIANTS, Variant, built_for, machine_of

pytestmark = pytest.mark.extended

PROGRAMS = {"compiled": bucket_recurrence, "torch": bucket_scan}
Arguments = tuple[Drivers, Constants, Tensor, Tensor]


def arguments(
    days: int, components: int, samples: int, seed: int = 0, dtype: torch.dtype = torch.float64, storm: float = 0.0
) -> Arguments:
    """Return frost and thaw, drought and storms, over stores that are neither empty nor full."""
    generator = torch.Generator().manual_seed(seed)

    def between(low: float, high: float, *shape: int) -> Tensor:
        values = torch.rand(*shape, generator=generator, dtype=torch.float64)
        return (low + (high - low) * values).to(dtype)

    def daily(low: float, high: float) -> Tensor:
        return between(low, high, days, components, samples)

    water = (daily(-6, 4).relu() ** 2).to(dtype)
    if storm:
        water[days // 2] += storm
    warm = between(0, 1, days, 1, samples)
    drivers = Drivers(
        *(water * (warm < 0.3), water * (warm >= 0.3), daily(0, 9) * (warm > 0.5), daily(0, 2) * (warm <= 0.5)),
        *(daily(0, 3), daily(0, 0.3), daily(1.05, 4), daily(5, 100), daily(0.1, 3)),
        *(daily(0.05, 0.5), daily(0.01, 0.4), daily(0.001, 0.2), daily(0, 0.8)),
    )
    fixed = (between(low, high, components, samples) for low, high in ((0.1, 1), (15, 120), (1, 20), (0, 0.3)))
    weights = between(0.1, 1, DELAYS, components * PATHS, samples)
    cells = between(0, 15, UNDERWAY + len(STORES) * components, samples)
    return drivers, Constants(*fixed), weights / weights.sum(0), cells


def flooded(given: Arguments) -> Arguments:
    """Return the same with ten times the soil's capacity in the soil, as a what-if run may put there."""
    drivers, constants, routing, cells = given
    first, cells = UNDERWAY + STORES.index("soil") * len(constants.capacity), cells.clone()
    cells[first : first + len(constants.capacity)] = 10 * constants.capacity
    return drivers, constants, routing, cells


def gradients(program: ModuleType, given: Arguments, weights: list[Tensor]) -> list[Tensor]:
    drivers, constants, routing, cells = given
    leaves = [values.clone().requires_grad_() for values in (*drivers, *constants, routing, cells)]
    count = len(drivers)
    flow = program.scan(Drivers(*leaves[:count]), Constants(*leaves[count:-2]), leaves[-2], leaves[-1])
    total = torch.stack([(values * weight).sum() for values, weight in zip(flow, weights, strict=True)]).sum()
    return list(torch.autograd.grad(total, leaves))


def assert_the_equations(given: Arguments, seed: int, program: ModuleType = bucket_recurrence) -> None:
    wanted, computed = bucket_scan.scan(*given), program.scan(*given)
    for name, one, other in zip(wanted._fields, wanted, computed, strict=True):
        assert torch.allclose(other, one, rtol=1e-11, atol=1e-11), name
    generator = torch.Generator().manual_seed(seed)
    weights = [torch.randn(values.shape, generator=generator, dtype=torch.float64) for values in wanted]
    names = (*Drivers._fields, *Constants._fields, "routing", "cells")
    for name, one, other in zip(
        names, gradients(bucket_scan, given, weights), gradients(program, given, weights), strict=True
    ):
        assert torch.allclose(other, one, rtol=1e-8, atol=1e-8), name


@pytest.mark.parametrize(("components", "samples"), [(1, 1), (3, 32), (8, 41)])
@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_days_and_gradients_are_those_of_the_equations(components: int, samples: int, seed: int) -> None:
    assert_the_equations(arguments(60, components, samples, seed), seed)


@pytest.mark.parametrize("seed", range(3))
def test_they_are_where_the_soil_holds_more_than_its_capacity(seed: int) -> None:
    assert_the_equations(flooded(arguments(20, 3, 33, seed)), seed)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_library_that_runs_here_follows_the_equations(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    if variant not in built_for(machine_of(platform.machine())) or variant.lacking(torch.cpu.get_capabilities()):
        pytest.skip(f"This processor cannot run {variant.name}.")
    functions = loader.load(variant)
    monkeypatch.setattr(loader, "library", lambda: functions)
    assert_the_equations(arguments(40, 3, 33, 5), 5)


def test_the_gradients_are_those_of_small_differences() -> None:
    drivers, constants, routing, cells = arguments(12, 2, 2, seed=7)
    drivers = Drivers(*(values + 0.01 for values in drivers))  # no store at the bend where it is empty

    def of(*leaves: Tensor) -> tuple[Tensor, ...]:
        count = len(drivers)
        return bucket_recurrence.scan(Drivers(*leaves[:count]), Constants(*leaves[count:-2]), leaves[-2], leaves[-1])

    leaves = [values.clone().requires_grad_() for values in (*drivers, *constants, routing, cells)]
    torch.autograd.gradcheck(of, leaves, eps=1e-7, atol=1e-5, rtol=1e-4)


@given(
    components=st.integers(1, 9),
    samples=st.integers(1, 40),
    seed=st.integers(0, 999),
    storm=st.sampled_from([0.0, 500.0]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    program=st.sampled_from(sorted(PROGRAMS)),
    flood=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_day_closes_its_ledger_and_nothing_is_negative(
    components: int, samples: int, seed: int, storm: float, dtype: torch.dtype, program: str, flood: bool
) -> None:
    given = arguments(50, components, samples, seed, dtype, storm)
    given = flooded(given) if flood else given
    flow = PROGRAMS[program].scan(*given)
    fell = (given[0].snowfall + given[0].rain).double().sum(1).cumsum(0)
    left = (flow.discharge + flow.evapotranspiration + flow.leak).double().cumsum(0)
    before = given[3].double().sum(0)
    residual = before + fell - left - flow.storage.double().sum(1)
    assert (residual.abs() <= {torch.float32: 1e-6, torch.float64: 1e-14}[dtype] * (before + fell)).all()
    assert all((values >= 0).all() for values in flow)
    assert (flow.evapotranspiration.double() <= given[0].demand.double().sum(1) * (1 + 1e-6)).all()


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flood", [False, True])
def test_more_water_in_any_season_lowers_no_store_no_flow_and_no_loss(program: str, seed: int, flood: bool) -> None:
    given = arguments(80, 4, 32, seed)
    drivers, constants, routing, cells = flooded(given) if flood else given
    added = {"rain": drivers.rain.clone(), "snowfall": drivers.snowfall.clone()}
    for of_day in added.values():
        of_day[3] += 60
        of_day[20] += 60
    usual = PROGRAMS[program].scan(drivers, constants, routing, cells)
    for name, more in added.items():
        wetter = PROGRAMS[program].scan(drivers._replace(**{name: more}), constants, routing, cells)
        for one, other in zip(usual, wetter, strict=True):
            assert (other - one >= -1e-9).all()
        returned = (wetter.discharge - usual.discharge).cumsum(0)
        assert (returned <= 2 * 4 * 60 + 1e-9).all()


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("seed", range(3))
def test_more_water_in_the_soil_than_it_holds_lowers_nothing_either(program: str, seed: int) -> None:
    given = arguments(80, 4, 32, seed)
    usual, wetter = PROGRAMS[program].scan(*given), PROGRAMS[program].scan(*flooded(given))
    for one, other in zip(usual, wetter, strict=True):
        assert (other - one >= -1e-9).all()


def test_arrays_of_other_samples_cells_or_numbers_are_refused() -> None:
    drivers, constants, routing, cells = arguments(5, 2, 4)
    given = {"routing": routing, "cells": cells, "tagged": cells.unsqueeze(1), "tag": torch.zeros(5, dtype=torch.int64)}
    bucket_recurrence.tagged_scan(drivers, constants, **given)
    fewer = Constants(*(values[:, :1] for values in constants))
    with pytest.raises(ValueError, match="constants has the shape"):
        bucket_recurrence.scan(drivers, fewer, routing, cells)
    for name, values in given.items():
        wrongs = (values[:-1], values[..., :-1]) if name == "tag" else (values[:-1], values[..., :-1], values.float())
        for wrong in wrongs:
            with pytest.raises(ValueError, match="compiled program needs"):
                bucket_recurrence.tagged_scan(drivers, constants, **{**given, name: wrong})


def misplaced(values: Tensor) -> Tensor:
    """Return the same values where no vector may begin in memory."""
    elsewhere = values.new_empty(values.numel() + 1)[1:].view_as(values)
    return elsewhere.copy_(values)


def test_cells_and_gradients_may_begin_anywhere_in_memory() -> None:
    drivers, constants, routing, cells = arguments(5, 2, 32)
    results = []
    for place in (Tensor.clone, misplaced):
        leaves = [place(values).requires_grad_() for values in (routing, cells)]
        flow = bucket_recurrence.scan(drivers, constants, *leaves)
        results.append(torch.autograd.grad(flow.discharge, leaves, place(torch.ones_like(flow.discharge))))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("field", [*Drivers._fields, *Constants._fields])
def test_no_program_hides_a_number_that_is_not_one(program: str, dtype: torch.dtype, field: str) -> None:
    drivers, constants, routing, cells = arguments(10, 2, 3, dtype=dtype)
    for part in (drivers, constants):
        if field in part._fields:
            getattr(part, field)[..., 0, 0] = torch.nan
    flow = PROGRAMS[program].scan(drivers, constants, routing, cells)
    assert flow.storage[-1, :, 0].sum().isnan()
    assert not any(values[..., 1:].isnan().any() for values in flow)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_tags_add_up_to_all_water_and_change_none_of_its_bits(program: str, dtype: torch.dtype) -> None:
    given = arguments(200, 3, 37, dtype=dtype)
    tags = 3
    shares = torch.rand(len(given[3]), tags, 37, dtype=dtype) + 0.1
    tagged = given[3].unsqueeze(1) * shares / shares.sum(1, keepdim=True)
    tag = torch.randint(tags, (200,))
    flow, by_tag = PROGRAMS[program].tagged_scan(*given, tagged, tag)
    for one, other in zip(flow, PROGRAMS[program].scan(*given), strict=True):
        assert torch.equal(one, other)
    rounding = {torch.float32: 2e-6, torch.float64: 1e-14}[dtype]
    loss = flow.evapotranspiration + flow.leak
    for parts, whole in ((by_tag.discharge, flow.discharge), (by_tag.loss, loss), (by_tag.cells, flow.storage[-1])):
        assert ((parts.double().sum(1) - whole).abs() <= rounding * whole.clamp_min(0.01)).all()
        assert (parts >= 0).all()
    rain = (given[0].snowfall + given[0].rain).double().sum(1)
    for number in range(tags):
        came = tagged[:, number].double().sum(0) + rain[tag == number].sum(0)
        left = by_tag.discharge[:, number].double().sum(0) + by_tag.loss[:, number].double().sum(0)
        residual = came - left - by_tag.cells[:, number].double().sum(0)
        assert (residual.abs() <= {torch.float32: 1e-5, torch.float64: 1e-12}[dtype] * came).all()


def test_tags_are_routed_by_the_equations() -> None:
    given = arguments(60, 3, 33)
    tagged = given[3].unsqueeze(1) * torch.tensor([0.25, 0.75], dtype=torch.float64).unsqueeze(-1)
    tag = torch.arange(60) % 2
    wanted, computed = (PROGRAMS[name].tagged_scan(*given, tagged, tag)[1] for name in ("torch", "compiled"))
    for one, other in zip(wanted, computed, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-10, atol=1e-12)
