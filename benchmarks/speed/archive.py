"""The archive of forecasts: 447 basins x 2 years of daily issues x 10 days, appended one by one while it is read.

The values are synthetic: discharge with the roughness of real quantiles, so that they compress alike. A process of its
own opens the archive with xarray again and again meanwhile, and holds every value of the newest issue and of one before
against what was appended: `half_issues` is the number that were not whole. Another process that appends is killed
KILLS times in the midst of it. `open_seconds` is the time xarray takes to open the finished archive, the median of
OPENINGS in a new process each; `append_cpu_seconds` is of one issue, the median. `--basins` sets their number.
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np

from extensions.archive import layout
from extensions.archive.forecast_archive import BasinIssue, Contents, Issue, append, contents
from hydrology.uncertainty.error_model import LEVELS
from records.basins.basins import Site
from records.runs.run_types import QUANTILES
from runtime.child_processes import spawn_context

BASINS, ISSUES, LEADS = 447, 730, 10
KILLS, OPENINGS = 10, 5
_OPEN = (
    "import sys, time, xarray, zarr; start = time.perf_counter();"
    "dataset = xarray.open_zarr(sys.argv[1], consolidated=True, chunks=None);"
    "print(time.perf_counter() - start, dataset.sizes['issue'])"
)


def measure(basins: int = BASINS) -> dict[str, Any]:
    """Return sizes, times and what a reader saw."""
    names = [f"SYNTH-{number:04}" for number in range(basins)]
    with tempfile.TemporaryDirectory() as temporary:
        folder, context = Path(temporary) / "forecasts.zarr", spawn_context()
        killed = _killed(folder, names)
        seen: Queue[tuple[int, int]] = context.Queue()
        reader = context.Process(target=_watch, args=(str(folder), names, seen))
        reader.start()
        taken = []
        for number in range(_held(folder), ISSUES):
            start = time.process_time()
            append(folder, _issue(number, names), _sites(names), Contents())
            taken.append(time.process_time() - start)
        opened, half = seen.get(timeout=600)
        reader.join()
        files = [file for file in folder.rglob("*") if file.is_file()]
        return {
            "shape": f"{basins} basins x {ISSUES} issues x {LEADS} days x {len(LEVELS)} + {len(QUANTILES)} quantiles",
            "megabytes": sum(file.stat().st_size for file in files) / 1e6,
            "megabytes_as_float32": basins * ISSUES * LEADS * (len(LEVELS) + len(QUANTILES)) * 4 / 1e6,
            "files": len(files),
            "append_cpu_seconds": statistics.median(taken),
            "openings_while_appended": opened,
            "half_issues": half,
            "killed": killed,
            "open_seconds": statistics.median(_open_seconds(folder) for _ in range(OPENINGS)),
        }


def _sites(names: list[str]) -> dict[str, Site]:
    return {name: Site(name, 40.0, -100.0) for name in names}


def _issue(number: int, names: list[str]) -> Issue:
    """Return an issue; it is the same for the same number."""
    chance = np.random.default_rng(number)
    median = chance.lognormal(3.0, 1.5, (len(names), 1, 1)) * chance.lognormal(0.0, 0.3, (len(names), LEADS, 1))
    widths = {layout.CALIBRATED: LEVELS, layout.DISCHARGE: QUANTILES}
    rough = {
        name: median * np.exp(0.5 * np.sort(chance.normal(size=(len(names), LEADS, len(levels))), axis=-1))
        for name, levels in widths.items()
    }
    of_basins = {
        name: BasinIssue(1, 1e9, {array: values[place] for array, values in rough.items()})
        for place, name in enumerate(names)
    }
    t0 = np.datetime64("2006-10-01", "D") + number
    at = datetime(2006, 10, 1, 14, tzinfo=UTC)
    return Issue(
        issue=f"run-{number:05}",
        t0=t0,
        issued_at=at,
        version="synthetic",
        purpose="operational",
        forcing_kind="climatology",
        weather="",
        leads=LEADS,
        basins=of_basins,
    )


def _held(folder: Path) -> int:
    held = contents(folder)
    return 0 if held is None else len(held.issues)


def _killed(folder: Path, names: list[str]) -> int:
    """Kill a process that appends, again and again; return how often, if every archive that it left was whole."""
    for _ in range(KILLS):
        process = subprocess.Popen([sys.executable, "-m", __name__, str(folder), *names])
        before = _held(folder)
        while _held(folder) < before + 2:
            time.sleep(0.05)
        time.sleep(random.random() / 2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if not _is_whole(folder, names, range(_held(folder))):
            raise SystemExit("A killed process left half an issue.")
    return KILLS


def _is_whole(folder: Path, names: list[str], numbers: "range | list[int]") -> bool:
    """Return whether an archive holds issues as they were appended."""
    import xarray

    with xarray.open_zarr(folder, consolidated=True, chunks=None) as dataset:
        for number in numbers:
            issue = _issue(number, names)
            for array in (layout.CALIBRATED, layout.DISCHARGE):
                stored = dataset[array].isel(issue=number).values
                expected = np.stack([issue.basins[name].flow[array] for name in names]).astype(np.float32)
                if not np.array_equal(stored, expected):
                    return False
            if dataset["issue"].values[number] != issue.issue:
                return False
    return True


def _watch(folder: str, names: list[str], seen: "Queue[tuple[int, int]]") -> None:
    """Open an archive until it has all issues; give how often, and how often it held half an issue."""
    opened = half = held = 0
    while held < ISSUES:
        time.sleep(0.5)
        held = _held(Path(folder))
        half += not _is_whole(Path(folder), names, [held - 1, opened % held])
        opened += 1
    seen.put((opened, half))


def _open_seconds(folder: Path) -> float:
    done = subprocess.run([sys.executable, "-c", _OPEN, str(folder)], capture_output=True, text=True, check=True)
    seconds, issues = done.stdout.split()
    if int(issues) != ISSUES:
        raise SystemExit(f"xarray opened an archive of {issues} issues, not {ISSUES}.")
    return float(seconds)


if __name__ == "__main__":
    target, given = Path(sys.argv[1]), sys.argv[2:]
    while True:
        append(target, _issue(_held(target), given), _sites(given), Contents())
