"""The commands of docs/do/walk.md, as they are printed, against the whole service on a synthetic basin."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testing.api_process import await_ready
from testing.processes import free_port
from tests.guide.follow import follow
from tests.guide.pages import BY_NAME, blocks

pytestmark = pytest.mark.extended

WALK = BY_NAME["walk"]
BASIN, T0, HORIZON = "SYNTH-03", "2005-05-01", 30
NAMES = {
    "BASIN": BASIN,
    "PRODUCT": "synthetic",
    "FITTED": "2001-10-01..2003-09-30",
    "CHECKED": "2003-10-01..2004-09-30",
    "CELLS": "4",
    "STEPS": "6",
    "T0": T0,
}


@pytest.fixture
def environment(country: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of somebody who walks beside a running service without any data."""
    data, log = tmp_path / "data", tmp_path / "service.log"
    data.mkdir(mode=0o700)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    around = os.environ | {
        "FRESHET_DATA": str(data),
        "FRESHET_INGEST_ROOTS": str(country),
        "OMP_NUM_THREADS": "1",
        "PATH": path,
        "no_proxy": "127.0.0.1",
    }
    with ExitStack() as stack:
        result = stack.enter_context(log.open("wb"))
        command = [sys.executable, "-m", "freshet", "serve", "--port", str(port)]
        service = stack.enter_context(subprocess.Popen(command, env=around, stdout=result, stderr=result))
        stack.callback(service.send_signal, signal.SIGTERM)
        await_ready(address, service, log)
        yield around | NAMES | {"SERVICE": address, "FILES": json.dumps([str(country)])}


def test_the_walk_ends_with_a_forecast(environment: dict[str, str], tmp_path: Path) -> None:
    outputs = follow(blocks(WALK), environment, tmp_path)
    assert sum(output.count('"status": "succeeded"') for output in outputs) == 3  # each stream of events ends there
    latest = json.loads(outputs[-1])
    assert (latest["basin"], latest["t0"], latest["units"]["discharge"]) == (BASIN, T0, "m3/s")
    assert len(latest["discharge"]["median"]) == HORIZON
    assert latest["water_balance"]["closes"]
