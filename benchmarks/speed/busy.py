"""The forecast of the README beside two busy loops, with the default and with FRESHET_CORES=1.

FRESHET_DATA is a store of the 447 basins with the shipped ensemble, filled from FRESHET_CAMELS if it is missing. Each
forecast begins on a copy of it: where nothing was forecast in it, every basin is advanced from 1980. CPU seconds are of
the command, its start included, as the system counts them: they do not depend on how long it waits for its turn. Two
processes of the same priority compute without end all the while. The minimum of the rounds is compared.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.regional.data import FILES, camels
from benchmarks.speed.command_line import cpu_seconds_of_children
from runtime.child_processes import end_with_parent
from runtime.settings import Settings

FORECAST = ("forecast", "--t0", "1997-04-01", "--horizon", "30")
BASIN = ("--basin", "13235000")
CASES = {"one": BASIN, "all": ()}
SETTINGS = {"default": {}, "one thread": {"FRESHET_CORES": "1"}}
ROUNDS = {"one": 3, "all": 1}
LOOPS = 2
LOOP = "import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
MAX_SECONDS = 7200
"""After which a loop ends, though nobody ends it."""


def measure(basins: int | None = None) -> dict[str, Any]:
    """Return CPU and clock seconds by case and setting, and the ratios of the least CPU seconds.

    Args:
        basins: 1 for the one basin alone.
    """
    cases = ["one"] if basins == 1 else list(CASES)
    store = whole_store()
    with tempfile.TemporaryDirectory(dir=store.parent) as folder, _busy():
        taken = {case: _of_case(store, Path(folder) / "copy", case) for case in cases}
    minimum = {case: {name: min(runs)[0] for name, runs in of_case.items()} for case, of_case in taken.items()}
    return {
        "command": f"freshet {' '.join(FORECAST)}",
        "cases": {case: " ".join(CASES[case]) or "447 basins" for case in cases},
        "busy_loops": LOOPS,
        "cores": os.cpu_count(),
        "cpu_and_clock_seconds": taken,
        "cpu_seconds": minimum,
        "ratios": {f"{case}_over_one_thread": cpu["default"] / cpu["one thread"] for case, cpu in minimum.items()},
    }


def whole_store() -> Path:
    """Return FRESHET_DATA with the 447 basins and the shipped ensemble, built where it holds no database."""
    store = Settings.load().data
    if not (store / "freshet.sqlite").exists():
        _freshet(store, "ingest", "camels", *(part for name in FILES for part in ("--from", str(camels() / name))))
        _freshet(store, "models", "install-pretrained", "--promote")
    return store


def _of_case(store: Path, copy: Path, case: str) -> dict[str, list[tuple[float, float]]]:
    """Return CPU and clock seconds of each run, by setting; the settings take turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in SETTINGS}
    for _ in range(ROUNDS[case]):
        for name, settings in SETTINGS.items():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(store, copy)
            started, before = time.monotonic(), cpu_seconds_of_children()
            _freshet(copy, *FORECAST, *CASES[case], **settings)
            taken[name].append((cpu_seconds_of_children() - before, time.monotonic() - started))
            print(f"{case}, {name}: CPU and clock seconds {taken[name][-1]}", file=sys.stderr, flush=True)
    return taken


@contextlib.contextmanager
def _busy() -> Iterator[None]:
    """Run the busy loops meanwhile."""
    command = [sys.executable, "-c", LOOP.format(seconds=MAX_SECONDS)]
    loops = [
        subprocess.Popen(command, preexec_fn=end_with_parent)  # noqa: PLW1509 - there are no threads here
        for _ in range(LOOPS)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _freshet(data: Path, *arguments: str, **settings: str) -> None:
    """Run a command in the environment of a user who has set neither threads nor bytecode."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for name in ("FRESHET_CORES", "PYTHONDONTWRITEBYTECODE"):
        inherited.pop(name, None)
    subprocess.run(
        [sys.executable, "-m", "freshet", *arguments],
        env=inherited | {"FRESHET_DATA": str(data)} | settings,
        stdout=subprocess.DEVNULL,
        check=True,
    )
