"""What the processes of a service hold over time: memory and open files; and what its data folder holds."""

import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from benchmarks.service.running import Service
from testing.processes import children, part_name

LOOK_EVERY = 5.0  # seconds
WARM_UP = 60.0  # seconds of each life that its slope leaves out: imports, and what is read once
MB = 1e6

Stretch = Sequence[tuple[float, float]]
"""Values with their seconds."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a process, or several together, hold.

    Attributes:
        rss_mb: resident memory, what is shared included.
        pss_mb: the same, what is shared divided among those that share it.
        files: open file descriptors.
    """

    rss_mb: float
    pss_mb: float
    files: int


MEASURES = [field.name for field in fields(Held)]


@dataclass(frozen=True, slots=True)
class Life:
    """A process from its start to its end, by the number of the process and the tick at which it started."""

    part: str
    process: int
    started: int


class Watcher:
    """Looks at the processes of a service and at its folder again and again.

    Attributes:
        lives: what each process held, with the seconds.
        tree: what all held together.
        folder: the bytes of the database and of everything else in the data folder, in MB.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_again, daemon=True)
        self.lives: defaultdict[Life, list[tuple[float, Held]]] = defaultdict(list)
        self.tree: list[tuple[float, Held]] = []
        self.folder: dict[str, list[tuple[float, float]]] = {"database": [], "the rest": []}

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _look_again(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            self._look(monotonic())

    def _look(self, now: float) -> None:
        assert self._service.process is not None
        sample: dict[Life, Held] = {}
        for part, process in _tree("supervisor", self._service.process.pid):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                sample[Life(part, process, _started(process))] = _held(process)
        for life, held in sample.items():
            self.lives[life].append((now, held))
        sums = {name: sum(getattr(held, name) for held in sample.values()) for name in MEASURES}
        self.tree.append((now, Held(**sums)))
        for name, size in _sizes(self._service.data).items():
            self.folder[name].append((now, size / MB))

    def of_parts(self) -> dict[str, dict[str, Any]]:
        """Return of each part how many lives it had, the longest, what it held, and by how much that grew."""
        parts: defaultdict[str, list[list[tuple[float, Held]]]] = defaultdict(list)
        for life, samples in self.lives.items():
            parts[life.part].append(samples)
        return {part: _reported(lives) for part, lives in sorted(parts.items())}

    def of_tree(self, windows: Sequence[tuple[float, float]]) -> dict[str, Any]:
        """Return the same of all processes together, while no fault was under way."""
        return _reported([[(at, held) for at, held in self.tree if not any(a <= at <= b for a, b in windows)]])

    def of_folder(self) -> dict[str, dict[str, float | None]]:
        """Return the MB of the database and of the rest at the first look and the last, and those added an hour."""
        return {
            name: {"first_mb": path[0][1], "last_mb": path[-1][1], "mb_per_hour": per_hour([path])}
            for name, path in self.folder.items()
        }


def per_hour(paths: Iterable[Stretch]) -> float | None:
    """Return the growth of a value per hour: the slope of least squares over stretches of which each has a mean of
    its own; None where there are too few."""
    both = squares = 0.0
    for path in paths:
        if len(path) > 2:
            seconds, values = (np.array(column) - np.mean(column) for column in zip(*path, strict=True))
            both += float(seconds @ values)
            squares += float(seconds @ seconds)
    return round(3600 * both / squares, 2) if squares else None


def _reported(lives: Sequence[Sequence[tuple[float, Held]]]) -> dict[str, Any]:
    warm = [[(at, held) for at, held in life if at - life[0][0] > WARM_UP] for life in lives if life]
    return {
        "lives": len(lives),
        "longest_life_seconds": round(max((life[-1][0] - life[0][0] for life in lives if life), default=0)),
        **{name: _path_of(warm, name) for name in MEASURES},
        "pss_mb_by_minute_of_the_longest": _by_minute(max(lives, key=len)),
    }


def _by_minute(life: Sequence[tuple[float, Held]]) -> list[float]:
    minutes: dict[int, float] = {}
    for at, held in life:
        minutes.setdefault(int((at - life[0][0]) / 60), round(held.pss_mb, 1))
    return list(minutes.values())


def _path_of(lives: Sequence[Sequence[tuple[float, Held]]], name: str) -> dict[str, float | None] | None:
    paths = [[(at, float(getattr(held, name))) for at, held in life] for life in lives]
    values = [value for path in paths for _, value in path]
    if not values:
        return None
    return {
        "median": round(float(np.median(values)), 1),
        "largest": round(max(values), 1),
        "per_hour": per_hour(paths),
        "per_hour_of_the_longest": per_hour([max(paths, key=len)]),
    }


def _tree(name: str, process: int) -> Iterator[tuple[str, int]]:
    """Return a process and all below it, each with the part that it is or belongs to."""
    yield name, process
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in children(process):
            of_child = part_name(child) if name == "supervisor" else f"jobs of {name.removeprefix('jobs of ')}"
            yield from _tree(of_child, child)


def _held(process: int) -> Held:
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    sizes = {name: int(kib) * 1024 / MB for name, kib in re.findall(r"^(Rss|Pss): +(\d+) kB$", rollup, re.MULTILINE)}
    if not sizes:
        raise ProcessLookupError(process)
    return Held(sizes["Rss"], sizes["Pss"], len(list(Path(f"/proc/{process}/fd").iterdir())))


def _started(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])


def _sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of the database, with its log of what is not yet in it, and of the rest."""
    sizes = {"database": 0, "the rest": 0}
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if file.is_file():
                sizes["database" if file.name.startswith("freshet.sqlite") else "the rest"] += file.stat().st_size
    return sizes
