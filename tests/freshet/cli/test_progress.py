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
from rich.progress import Progress

from freshet.cli import output
from tests.freshet.conftest import BASINS, environment

TERMINAL = {"TERM": "xterm", "COLUMNS": "120"}


def all_of(screen: int) -> bytes:
    """Return all that is written to a terminal until it is closed; it holds 4 kB."""
    parts = []
    with suppress(OSError):  # EIO: the other end is closed
        while part := os.read(screen, 2**16):
            parts.append(part)
    return b"".join(parts)


def test_where_nobody_looks_on_a_line_has_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", -1.0)
    seconds = [0.0]
    reporter = output.Reporter(
        Progress(disable=True, get_time=lambda: seconds[0], speed_estimate_period=output.SECONDS_OF_SPEED)
    )
    for done in range(3):
        reporter.show("training", done, 10, f"loss {done}")
        seconds[0] += 60
    reporter.show("training", 10, 10, "loss 3")
    assert capsys.readouterr().err.splitlines() == [
        "training: 0 of 10, loss 0",
        "training: 1 of 10, loss 1",
        "training: 2 of 10, loss 2, 0:08:00 left",
        "training: 10 of 10, loss 3",
    ]


@pytest.mark.extended
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
