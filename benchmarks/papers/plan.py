"""What every experiment is given, and what it gives back."""

import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models import checkpoint
from models.checkpoint import Tensors


@dataclass(frozen=True, slots=True)
class Plan:
    """How an experiment is to be run.

    Attributes:
        quick: a size of about a minute that shows the command at work; the paper's size otherwise.
        seeds: how many seeds; None for the experiment's own number.
        folder: where a long run stores its checkpoints, to go on from when it is started again.
    """

    quick: bool
    seeds: int | None
    folder: Path

    def note(self, text: str) -> None:
        """Show how far the run is."""
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def checkpoint(self, name: str) -> "Checkpoint":
        """Return the checkpoint of a part of the run; a quick run's is another than the whole one's."""
        return Checkpoint(self.folder / f"{name}{'-quick' if self.quick else ''}.safetensors")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Tensors and a JSON header in a file: the whole old one or the whole new one."""

    path: Path

    def load(self) -> tuple[Tensors, dict[str, Any]] | None:
        """Return what was stored last; None where nothing was."""
        return checkpoint.parse(self.path.read_bytes()) if self.path.exists() else None

    def save(self, tensors: Tensors, header: dict[str, Any]) -> None:
        """Store tensors and header in place of the last ones."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_bytes(checkpoint.dump(tensors, header))
        unfinished.replace(self.path)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the paper's figure and ours.

    Attributes:
        what: what is measured.
        paper: the paper's figure as printed; "-" where it gives none.
        ours: ours in words, with its spread.
        values: the numbers behind it (one a seed, medians, quartiles), as plain JSON.
    """

    what: str
    paper: str
    ours: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """What an experiment found.

    Attributes:
        source: paper and table.
        setup: sizes, rates, updates, seeds: what it takes to do it again.
        seconds: of computing, over all the runs that it took.
    """

    title: str
    source: str
    setup: dict[str, Any]
    rows: list[Row]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        return asdict(self)
