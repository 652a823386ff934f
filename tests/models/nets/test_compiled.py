"""The compiled recurrence: the same numbers whatever runs it, and a plain word where it cannot be had."""

import copy
import ctypes
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from hydrology.water.ledger import close
from models.contract import Inputs
from models.devices import cores_in_use, use_cores
from models.ensemble import simulate
from models.learning import nse_of_days
from models.nets.compiled import loader, recurrence
from models.nets.compiled.variants import VARIANTS, Variant, built_for, machine_of
from models.nets.mclstm import MCLSTM
from models.nets.scan import Tags
from testing.networks import inputs, network
from tests.models.nets.test_mclstm import worst_residual

STEPS, WARMUP = 20, 10


def losses_of_training(recurrence: str, rank: int, wetness: bool = False) -> list[float]:
    """Return the losses of some steps of Adam in float64."""
    net = network(8, seed=5, recurrence=recurrence, rank=rank, wetness=wetness)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for step in range(STEPS):
        drive = inputs(40, 40, seed=step)
        observed = torch.rand(40 - WARMUP, 40, generator=generator, dtype=torch.float64) * 3
        loss = nse_of_days(net(drive)[0]["discharge"][WARMUP:], observed, torch.ones(40, dtype=torch.float64)).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@contextmanager
def cores(count: int) -> Iterator[None]:
    before = cores_in_use()
    use_cores(count)
    try:
        yield
    finally:
        use_cores(before)


@pytest.fixture
def compiled() -> None:
    """Make sure that the compiled recurrence is what runs: a fallback would test torch against itself."""
    loader.load(loader.choose())


@pytest.mark.extended
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("rank", [0, 4])
def test_twenty_steps_of_training_lose_what_the_plain_equations_lose(recurrence: str, rank: int) -> None:
    assert losses_of_training(recurrence, rank) == pytest.approx(losses_of_training("plain", rank), rel=1e-9)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("half", "rank"), [(False, 0), (True, 0), (False, 16)])
def test_a_sample_has_the_same_bits_whatever_its_neighbours_and_the_cores(half: bool, rank: int) -> None:
    if half and loader.half_unit() is None:
        pytest.skip("This processor has no unit for bfloat16.")
    net = network(24, dtype=torch.float32, rank=rank)
    net.half_products = half
    drive = inputs(60, 130, dtype=torch.float32)
    alone = Inputs(drive.mass[:, 77:78], drive.auxiliary[:, 77:78], drive.static[77:78])
    wanted = simulate(net, alone, None, ["storage"])[0]["storage"][0]
    for count in (1, 2, 3):
        with cores(count):
            storage = simulate(net, drive, None, ["storage"])[0]["storage"][77]
        assert np.array_equal(storage, wanted)


@pytest.mark.usefixtures("compiled")
def test_a_network_of_some_rank_trains_in_float32_whatever_it_may() -> None:
    drive, gradients = inputs(60, 40, dtype=torch.float32), []
    for half in (False, True):
        net = network(24, dtype=torch.float32, rank=16)
        net.half_products = half
        net(drive)[0]["discharge"].square().mean().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]))
    assert torch.equal(*gradients)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("cells", [5, 64])
def test_products_in_half_precision_move_the_gates_a_little_and_lose_no_water(cells: int) -> None:
    if loader.half_unit() is None:
        pytest.skip("This processor has no unit for bfloat16.")
    whole, half = network(cells, dtype=torch.float32), network(cells, dtype=torch.float32)
    half.half_products = True
    drive = inputs(203, 70, dtype=torch.float32)
    assert worst_residual(half, drive, torch.ones(70, cells) * 3) <= 1e-5
    weights, given = [], []
    for net in (whole, half):
        auxiliary, static = drive.auxiliary.clone().requires_grad_(), drive.static.clone().requires_grad_()
        with cores(1):  # teams of two blocks, and one that is left over
            net(Inputs(drive.mass, auxiliary, static))[0]["discharge"].square().mean().backward()
        weights.append(torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]))
        given.append((auxiliary.grad, static.grad))
    assert (weights[1] - weights[0]).norm() < 0.02 * weights[0].norm()
    for exact, rounded in zip(*given, strict=True):
        assert exact is not None
        assert rounded is not None
        # Not the norm: where the positive part of R just begins, a day's gradient is another one.
        assert (rounded - exact).abs().median() < 0.02 * exact.abs().median()


@pytest.mark.usefixtures("compiled")
def test_a_network_created_without_gradients_runs_like_any_other() -> None:
    drive, like_any_other = inputs(20, 3), network(8, seed=5)
    with torch.inference_mode():
        discharge = network(8, seed=5)(drive)[0]["discharge"]
        assert torch.equal(discharge, like_any_other(drive)[0]["discharge"])


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("rank", [0, 16])
def test_the_gradient_does_not_depend_on_the_cores(rank: int) -> None:
    found = []
    for count in (1, 2):
        net = network(16, rank=rank)
        with cores(count):
            net(inputs(30, 100))[0]["discharge"].square().mean().backward()
        found.append(torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]))
    torch.testing.assert_close(found[0], found[1], rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("compiled")
@torch.no_grad()
def test_arrays_of_other_samples_days_cells_or_numbers_are_refused() -> None:
    net, dtype = network(8, rank=4, wetness=True), torch.float64
    gates = net._gates()
    given = {name: torch.rand(5, 4, size, dtype=dtype) for name, size in (("drivers", net.drivers), ("mass", 1))}
    given |= {"mass": given["mass"][..., 0], "static": torch.rand(4, net.static, dtype=dtype)}
    given |= {"cells": torch.rand(4, 8, dtype=dtype)}
    tags = Tags(given["mass"].unsqueeze(-1), given["cells"].unsqueeze(-1))
    recurrence.tagged_scan(gates, **given, tags=tags)
    for name, values in given.items():
        for wrong in (values[:-1], values[:, :-1], values.float()):
            with pytest.raises(ValueError, match="compiled program needs"):
                recurrence.scan(gates, **{**given, name: wrong})
    for part in ("mass", "cells"):
        for wrong in (getattr(tags, part)[:-1], getattr(tags, part).float()):
            with pytest.raises(ValueError, match="compiled program needs"):
                recurrence.tagged_scan(gates, **given, tags=tags._replace(**{part: wrong}))
    for part in ("static", "bias", "factor", "factor_bias", "wetness"):
        changed = copy.copy(gates)
        for wrong in (getattr(gates, part)[:-1], getattr(gates, part).float()):
            setattr(changed, part, wrong)
            with pytest.raises(ValueError, match="compiled program needs"):
                recurrence.scan(changed, **given)


def library_of(variant: Variant) -> ctypes.CDLL:
    """Return the library of a variant, if this processor can run it."""
    if variant not in built_for(machine_of(platform.machine())) or variant.lacking(torch.cpu.get_capabilities()):
        pytest.skip(f"This processor cannot run {variant.name}.")
    return loader.load(variant)


@pytest.mark.extended
@pytest.mark.parametrize(("rank", "wetness"), [(0, False), (4, False), (16, False), (16, True)])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_library_that_runs_here_trains_like_the_plain_equations(
    variant: Variant, rank: int, wetness: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = library_of(variant)
    monkeypatch.setattr(loader, "library", lambda: functions)
    wanted = pytest.approx(losses_of_training("plain", rank, wetness), rel=1e-9)
    assert losses_of_training("fastest", rank, wetness) == wanted


@pytest.mark.parametrize("gate", ["redistribution", "input_gate", "output_gate"])
@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_no_library_hides_a_bias_that_is_not_a_number(
    variant: Variant, dtype: torch.dtype, rank: int, gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = library_of(variant)
    monkeypatch.setattr(loader, "library", lambda: functions)
    assert_nan_reaches_the_ledger("fastest", dtype, rank, gate)


@pytest.mark.parametrize("gate", ["redistribution", "input_gate", "output_gate"])
@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("recurrence", ["torch", "plain"])
def test_torch_does_not_hide_a_bias_that_is_not_a_number(recurrence: str, rank: int, gate: str) -> None:
    assert_nan_reaches_the_ledger(recurrence, torch.float32, rank, gate)


def assert_nan_reaches_the_ledger(recurrence: str, dtype: torch.dtype, rank: int, gate: str) -> None:
    """Check that one bias that is not a number leaves no day finite, and that the ledger does not close.

    The bias is the first cell's, whose outflow is not part of the discharge: it gets there a day later.
    """
    net = network(8, dtype=dtype, recurrence=recurrence, rank=rank)
    with torch.no_grad():
        net.get_parameter(f"{gate}.bias")[0] = torch.nan
        outputs, _ = net(inputs(10, 3, dtype=dtype), {"c": torch.ones(3, 8, dtype=dtype)})
    assert outputs["discharge"][1:].isnan().all()
    rain, storage = inputs(10, 3, dtype=dtype).mass[..., 0].T, outputs["storage"].sum(-1)
    discharge, loss = outputs["discharge"].T, outputs["loss"].T
    ledgers = close(rain, discharge, loss, np.full(3, 8.0), storage[-1], dtype=np.float64).each()
    assert not any(ledger.closes for ledger in ledgers)


def test_a_library_of_other_sources_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "Call", ctypes.c_int64 * 3)
    with pytest.raises(loader.NoLibraryError, match="built of other sources"):
        loader.load(loader.choose())


def test_a_library_is_run_until_one_of_its_sources_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = f"recurrence-{loader.choose().name}.so"
    for file in (*loader.FOLDER.glob("*.h"), loader.FOLDER / "library.cpp", loader.FOLDER / library):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    loader.load(loader.choose())
    header = tmp_path / "buckets.h"
    header.write_text(header.read_text().replace("wet * wet", "wet"))
    with pytest.raises(loader.NoLibraryError, match="built of other sources"):
        loader.load(loader.choose())


@pytest.mark.skipif(
    (sys.platform, machine_of(platform.machine())) != ("linux", "x86_64"), reason="other platforms are not tried"
)
def test_the_suite_runs_on_a_library_and_not_on_torch() -> None:
    assert loader.program() == loader.choose().name
    assert loader.library() is not None


HASWELL = ("avx2", "fma3", "f16c", "bmi", "bmi2", "lzcnt")
SKYLAKE = (*HASWELL, "avx512_f", "avx512_bw", "avx512_cd", "avx512_dq", "avx512_vl")
PROCESSORS = [
    ("x86_64", HASWELL, "avx2"),
    ("AMD64", SKYLAKE[:-1], "avx2"),
    ("x86_64", SKYLAKE, "avx512"),
    ("x86_64", (*SKYLAKE, "avx512_vnni"), "avx512"),
    ("x86_64", (*SKYLAKE, "avx512_bf16"), "avx512-bf16"),
    ("x86_64", (*SKYLAKE, "avx512_bf16", "amx_tile", "amx_bf16"), "amx"),
    ("aarch64", (), "neon"),
    ("arm64", ("neon_dot",), "neon"),
]


def let_this_be(monkeypatch: pytest.MonkeyPatch, machine: str, capabilities: Sequence[str]) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(capabilities, True))


@pytest.mark.parametrize(("machine", "capabilities", "name"), PROCESSORS)
def test_a_processor_gets_the_fastest_library_that_it_can_run(
    machine: str, capabilities: Sequence[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_this_be(monkeypatch, machine, capabilities)
    assert loader.choose().name == name


@pytest.mark.parametrize(
    ("machine", "capabilities", "sentence"),
    [("x86_64", HASWELL[1:], "needs a processor with avx2"), ("riscv64", (), "processors of the kind riscv64")],
)
def test_a_processor_that_can_run_no_library_is_refused_with_the_reason(
    machine: str, capabilities: Sequence[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_this_be(monkeypatch, machine, capabilities)
    with pytest.raises(loader.NoLibraryError, match=sentence):
        loader.choose()


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF, but not all of it"])
def test_without_a_usable_library_torch_runs_the_days_and_this_is_logged_once(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    monkeypatch.setattr(loader, "library", cache(loader.library.__wrapped__))
    if content is not None:
        (tmp_path / f"recurrence-{loader.choose().name}.so").write_bytes(content)
    net, plain = MCLSTM(4, 3, 8), MCLSTM(4, 3, 8, recurrence="plain")
    plain.load_state_dict(net.state_dict())
    drive = Inputs(torch.rand(20, 3, 1), torch.randn(20, 3, 4), torch.randn(3, 3))
    with capture_logs() as log:
        torch.testing.assert_close(net(drive)[0]["discharge"], plain(drive)[0]["discharge"])
        net(drive)
    (warning,) = log
    assert "build_ext --inplace" in warning["reason"]
    assert loader.program() == "torch"
