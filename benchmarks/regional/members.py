"""The members that are kept: trained one at a time, each shipped in half precision when it is finished.

`mclstm`: ten of the recipe `members`, the ensemble of the product. `lstm`: three of the comparison, the first of
them kept. `fold-1` to `fold-5`: one member of 32 cells each (a fifth of the work), trained without a fifth of the
basins, which are those that it is then scored on. `fold-0` leaves none out, and says
what the others would have made of basins they know.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.regional.data import basins, opened, require_all
from benchmarks.regional.recipes import RECIPES
from models.pretrained import SHELF
from models.pretrained.form import CARD
from models.training import Progress
from operations.pretrained import ship
from operations.train import begin, new_version, train_member
from records import trainings
from records.clock import Clock

RESULTS = Path(__file__).parent / "results"
ENSEMBLE = SHELF / "mclstm-maurer-447"  # the product's
FOLDS = 5
FOLD_SEED = 0  # shuffles the basins before they are dealt out


@dataclass(frozen=True, slots=True)
class Series:
    """Members that share everything but their seed."""

    recipe: str
    members: int
    basins: tuple[str, ...]
    folder: Path


def fold(number: int) -> list[str]:
    """Return the basins that a fold leaves out: none for 0."""
    if number == 0:
        return []
    shuffled = np.random.default_rng(FOLD_SEED).permutation(np.array(basins()))
    return sorted(map(str, shuffled[number - 1 :: FOLDS]))


def series(name: str) -> Series:
    """Return a series by its name."""
    every = basins()
    if name == "mclstm":
        return Series("members", 10, tuple(every), ENSEMBLE)
    if name == "lstm":
        return Series("lstm", 3, tuple(every), RESULTS / "lstm")
    number = int(name.removeprefix("fold-"))
    learnt_from = sorted(set(every) - set(fold(number)))
    return Series("embedding-32", 1, tuple(learnt_from), RESULTS / name)


NAMES = ("mclstm", "lstm", *(f"fold-{number}" for number in range(FOLDS + 1)))


def train(name: str, members: list[int]) -> None:
    """Train members of a series, all where none is named, each from its last checkpoint; ship the finished."""
    chosen, clock = series(name), Clock()
    if unknown := set(members) - set(range(chosen.members)):
        raise SystemExit(f"{name} has the members 0 to {chosen.members - 1}; {sorted(unknown)} are none of them.")
    config = RECIPES[chosen.recipe].config(members=chosen.members)
    if chosen.folder != ENSEMBLE:  # that one has its card written by hand
        chosen.folder.mkdir(parents=True, exist_ok=True)
        (chosen.folder / CARD).write_text(
            f"Made by `python -m benchmarks.regional train {name}`; not a part of the product.\n"
        )
    database = opened()
    begun = begin(database, clock, config, chosen.basins)
    require_all(begun.prepared.left_out)
    for member in members or range(chosen.members):
        train_member(database, clock, begun, member, "cpu", _tell(name, member))
        with database.reading() as session:
            finished = trainings.finished_members(session, begun.training_id)
        written = ship(chosen.folder, new_version(clock, begun), finished)
        print(f"{chosen.folder}: members {written.members}", flush=True)
    database.close()


def _tell(name: str, member: int) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        if progress.validation is not None:
            print(f"{name} {member}: step {progress.step}, validation {progress.validation.value:.4f}", flush=True)

    return tell
