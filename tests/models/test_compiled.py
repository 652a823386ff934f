"""The compiled recurrence: the same numbers whatever runs it, and a plain word where it cannot be had."""

import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from models.contract import Inputs
from models.inference import simulate
from models.losses import nse_star
from models.nets.compiled import build
from models.nets.mclstm import MCLSTM, Recurrence
from tests.models.factories import inputs, network
from tests.models.test_mclstm import worst_residual

STEPS, WARMUP = 20, 10


def losses_of_training(recurrence: Recurrence) -> list[float]:
    """Return the losses of some steps of Adam in float64."""
    net = network(8, seed=5, recurrence=recurrence)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for step in range(STEPS):
        drive = inputs(40, 40, seed=step)
        observed = torch.rand(40 - WARMUP, 40, generator=generator, dtype=torch.float64) * 3
        loss = nse_star(net(drive)[0]["discharge"][WARMUP:], observed, torch.ones(40, dtype=torch.float64))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture
def compiled() -> None:
    """Make sure that the compiled recurrence is what runs: a fallback would test torch against itself."""
    build.load()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
def test_twenty_steps_of_training_lose_what_the_plain_equations_lose(recurrence: Recurrence) -> None:
    assert losses_of_training(recurrence) == pytest.approx(losses_of_training("plain"), rel=1e-9)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("half", [False, True])
def test_a_sample_has_the_same_bits_whatever_its_neighbours_and_the_threads(half: bool) -> None:
    if half and build.half_unit() is None:
        pytest.skip("This processor has no unit for bfloat16.")
    net = network(24, dtype=torch.float32)
    net.half_products = half
    drive = inputs(60, 130, dtype=torch.float32)
    alone = Inputs(drive.mass[:, 77:78], drive.auxiliary[:, 77:78], drive.static[77:78])
    wanted = simulate(net, alone, None, ["storage"])[0]["storage"][0]
    for count in (1, 2, 3):
        with threads(count):
            storage = simulate(net, drive, None, ["storage"])[0]["storage"][77]
        assert np.array_equal(storage, wanted)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("cells", [5, 64])
def test_products_in_half_precision_move_the_gates_a_little_and_lose_no_water(cells: int) -> None:
    if build.half_unit() is None:
        pytest.skip("This processor has no unit for bfloat16.")
    whole, half = network(cells, dtype=torch.float32), network(cells, dtype=torch.float32)
    half.half_products = True
    drive = inputs(203, 70, dtype=torch.float32)
    assert worst_residual(half, drive, torch.ones(70, cells) * 3) <= 1e-5
    weights, given = [], []
    for net in (whole, half):
        auxiliary, static = drive.auxiliary.clone().requires_grad_(), drive.static.clone().requires_grad_()
        with threads(1):  # teams of two blocks, and one that is left over
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
def test_a_network_made_without_gradients_runs_like_any_other() -> None:
    drive, like_any_other = inputs(20, 3), network(8, seed=5)
    with torch.inference_mode():
        discharge = network(8, seed=5)(drive)[0]["discharge"]
        assert torch.equal(discharge, like_any_other(drive)[0]["discharge"])


@pytest.mark.usefixtures("compiled")
def test_the_gradient_does_not_depend_on_the_threads() -> None:
    found = []
    for count in (1, 2):
        net = network(16)
        with threads(count):
            net(inputs(30, 100))[0]["discharge"].square().mean().backward()
        found.append(torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]))
    torch.testing.assert_close(found[0], found[1], rtol=1e-12, atol=1e-14)


def test_a_cache_that_others_can_write_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "freshet"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(build.CannotCompileError, match="chmod go-w"):
        build.load()


def test_a_cache_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(build.CannotCompileError, match="set XDG_CACHE_HOME"):
        build.load()


def test_a_damaged_library_is_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library = build.location()
    library.write_bytes(b"\x7fELF, but not all of it")
    assert build.load().freshet_half_unit() in (0, 1, 2)
    assert len(library.read_bytes()) > 10_000


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the processors are of that kind")
@pytest.mark.parametrize("processor", ["sapphirerapids", "znver4", "x86_64_v3"])
def test_what_is_compiled_for_other_processors_can_be_loaded(processor: str, tmp_path: Path) -> None:
    """Nothing of it is run: a matrix unit or a vector unit may be missing here."""
    made = tmp_path / "recurrence.so"
    flags = [f"-mcpu={processor}" if flag == "-march=native" else flag for flag in build.FLAGS if flag != "-O3"]
    command = [sys.executable, "-m", "ziglang", "c++", *flags, str(build.SOURCES / "library.cpp"), "-o", str(made)]
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path)}
    subprocess.run(command, check=True, env=os.environ | caches)
    assert ctypes.CDLL(str(made)).freshet_half


def test_without_a_compiler_torch_runs_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "library", lambda: None)
    net, plain = MCLSTM(4, 3, 8), MCLSTM(4, 3, 8, recurrence="plain")
    plain.load_state_dict(net.state_dict())
    drive = Inputs(torch.rand(20, 3, 1), torch.randn(20, 3, 4), torch.randn(3, 3))
    torch.testing.assert_close(net(drive)[0]["discharge"], plain(drive)[0]["discharge"])
