"""`freshet --help` and a light command on an empty store, beside a Python process that imports typer alone.

CPU seconds of processes of their own, in turn, after a first time each; the ratios are medians of the paired ratios.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from records.database.engine import Database

ROUNDS = 11
COMMANDS = {"typer": ["-c", "import typer"], "help": ["-m", "freshet", "--help"], "basins": ["-m", "freshet", "basins"]}


def measure() -> dict[str, Any]:
    """Return CPU seconds by command, and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'freshet.sqlite'}")
        database.migrate()
        database.close()
        rounds = [
            {name: _cpu_seconds(command, folder) for name, command in COMMANDS.items()} for _ in range(ROUNDS + 1)
        ]
    rounds = rounds[1:]
    paired = {f"{name}_over_typer": [one[name] / one["typer"] for one in rounds] for name in ("help", "basins")}
    return {
        "cpu_seconds": {name: statistics.median(one[name] for one in rounds) for name in COMMANDS},
        "ratios": {name: statistics.median(values) for name, values in paired.items()},
        "spread": {name: [min(values), max(values)] for name, values in paired.items()},
    }


def _cpu_seconds(command: list[str], folder: str) -> float:
    before = cpu_seconds_of_children()
    subprocess.run(
        [sys.executable, "-P", *command],
        env=os.environ | {"FRESHET_DATA": folder},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return cpu_seconds_of_children() - before


def cpu_seconds_of_children() -> float:
    """Return the CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
