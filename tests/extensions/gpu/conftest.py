"""A GPU of tests, and the Triton kernels by Triton's interpreter: the same operations, in the same order."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported, which only the modules of this folder do

from pathlib import Path

import pytest

from tests.extensions.gpu.fake_gpu import FakeGPU
from tests.operations.conftest import country, trained_file, trained_store
from tests.workers.conftest import sqlite_shop

__all__ = ["country", "sqlite_shop", "trained_file", "trained_store"]


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGPU:
    """The GPU of this machine, with much memory."""
    built = FakeGPU.build(tmp_path / "gpu")
    monkeypatch.setenv("PATH", built.path)
    return built
