"""Progress is drawn where somebody looks on, and beside the answer."""

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.freshet.conftest import BASINS, environment

pytestmark = pytest.mark.extended

TERMINAL = {"TERM": "xterm", "COLUMNS": "120"}


def all_of(screen: int) -> bytes:
    """Return all that is written to a terminal until it is closed; it holds 4 kB."""
    parts = []
    with suppress(OSError):  # EIO: the other end is closed
        while part := os.read(screen, 2**16):
            parts.append(part)
    return b"".join(parts)


def test_a_bar_is_drawn_beside_json(tmp_path: Path, country: Path) -> None:
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "freshet", "ingest", "camels", "--from", str(country), "--json"]

    with ThreadPoolExecutor() as reader:
        reading = reader.submit(all_of, screen)
        done = subprocess.run(
            command,
            env=os.environ | environment(tmp_path) | TERMINAL,
            stdout=subprocess.PIPE,
            stderr=terminal,
            check=True,
        )
        os.close(terminal)
        drawn = reading.result().decode()
    os.close(screen)
    assert len(json.loads(done.stdout)["basins"]) == len(BASINS)
    assert "━" in drawn
    assert f"{len(BASINS)}/{len(BASINS)}" in drawn
