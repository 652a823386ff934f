"""The stored members: trained one at a time, each shipped in half precision when it is finished.

`mclstm`: the ensemble of the product by the periods of the published table. `twins`: the same recipe on all years but
the test years, which show what skill to expect of `today`, on every year; both take as many steps, and the last
weights, for no years are left to choose by. `fold-1` to `fold-5`: five members each, trained without a fifth of the
basins, which are those that they are scored on. `lstm`, `eins`, `mmrnn`: the networks of the comparison, by the same
periods as `mclstm`, shipped beside it. `us-...`: the parts of `freshet-us`, by the same periods; likewise on all years
(`us-maurer-today`) and on all but the test years (`us-maurer-twins`), which are shipped; and without a fifth of the
basins (`us-maurer-fold-1`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regional.data import PRODUCTS, TEST, basins, opened, require_all
from benchmarks.regional.recipes import COMPARED, RECIPES
from extensions.shipping.export import ship
from hydrology.base.absent import texts
from jobspec.training import TrainingConfig
from models.pretrained import DEFAULT, SHELF, form
from models.pretrained.form import CARD, Named
from models.training import Progress
from operations.training.assemble import new_version
from operations.training.train import begin, train_member
from records.versions import trainings
from runtime.clock import Clock
from testing.work import work_of

RESULTS = Path(__file__).parent / "results"
MEMBERS = 10
ENSEMBLE = SHELF / DEFAULT  # by the periods of the published table
TODAY = RESULTS / f"{DEFAULT}-today"  # by every year
TWIN = RESULTS / f"{DEFAULT}-twin"  # by every year but the test years
FOLDS = 5
FOLD_SEED = 0  # shuffles the basins before they are divided into folds
FOLD_MEMBERS = 5
US_PARTS = {"us-maurer": 6, "us-daymet": 6, "us-maurer-buckets": 3, "us-daymet-buckets": 3, "us-fused-buckets": 2}
"""The parts of the shipped combinations, and how many members each has."""
US_FOLD_MEMBERS = {part: 1 if part.endswith("-buckets") else 3 for part in US_PARTS}
"""How many members each part has where a fifth of the basins is left out."""


@dataclass(frozen=True, slots=True)
class Series:
    """Members that share everything but their seed.

    Attributes:
        changes: of the recipe's configuration.
        folder: where they are stored.
        twin: the folder of the members that are judged in their place.
    """

    recipe: str
    members: int
    basins: tuple[str, ...]
    folder: Path
    changes: Mapping[str, Any] = field(default_factory=dict)
    twin: Path | None = None

    @property
    def config(self) -> TrainingConfig:
        """The configuration of their training."""
        return RECIPES[self.recipe].config(members=self.members, **self.changes)

    @property
    def twin_ensemble(self) -> Named | None:
        """What names the twin, which must be whole already."""
        return None if self.twin is None else Named(name=self.twin.name, content=form.read(self.twin).content)


def fold(number: int) -> list[str]:
    """Return the basins that a fold leaves out."""
    shuffled = np.random.default_rng(FOLD_SEED).permutation(np.array(basins()))
    return sorted(map(str, shuffled[number - 1 :: FOLDS]))


def series(name: str) -> Series:
    """Return a series by its name."""
    if name in COMPARED:
        return Series(name, COMPARED[name], tuple(basins()), SHELF / f"{name}-maurer-447")
    part = next((part for part in US_PARTS if name in _variants(part)), None)
    if part is None:
        recipe, variant, own, today, twin = "members", name, ENSEMBLE, TODAY, TWIN
        members, in_a_fold = MEMBERS, FOLD_MEMBERS
    else:
        recipe, variant = part, name.removeprefix(part).removeprefix("-")
        own, today, twin = RESULTS / part, SHELF / f"freshet-{part}", SHELF / f"freshet-{part}-twin"
        members, in_a_fold = US_PARTS[part], US_FOLD_MEMBERS[part]
    covered = tuple(RECIPES[recipe].basins)
    all_years = {"train_period": PRODUCTS[RECIPES[recipe].product].every_year, "validation_period": None}
    match variant:
        case "" | "mclstm":
            return Series(recipe, members, covered, own)
        case "twins":
            return Series(recipe, members, covered, twin, {**all_years, "held_out_period": TEST})
        case "today":
            return Series(recipe, members, covered, today, all_years, twin)
    left_out = fold(int(variant.removeprefix("fold-")))
    return Series(recipe, in_a_fold, tuple(sorted({*covered} - {*left_out})), RESULTS / name)


VARIANTS = ("twins", "today", *(f"fold-{number}" for number in range(1, FOLDS + 1)))


def _variants(part: str) -> tuple[str, ...]:
    """Return the names of a part's series."""
    return (part, *(f"{part}-{variant}" for variant in VARIANTS))


NAMES = ("mclstm", *VARIANTS, *COMPARED, *(name for part in US_PARTS for name in _variants(part)))


def train(name: str, members: list[int]) -> None:
    """Train members of a series, all where none is named, each from its last checkpoint; ship the finished."""
    chosen, clock = series(name), Clock()
    twin = chosen.twin_ensemble
    if unknown := set(members) - set(range(chosen.members)):
        raise SystemExit(f"{name} has the members 0 to {chosen.members - 1}; {sorted(unknown)} are none of them.")
    write_card(chosen, f"benchmarks.regional train {name}")
    database = opened(chosen.config.inputs.product)
    started = begin(work_of(database, clock), chosen.config, chosen.basins)
    require_all(texts(started.prepared.left_out))
    for member in members or range(chosen.members):
        train_member(work_of(database, clock), started, member, "cpu", _report(name, member))
        with database.reading() as session:
            finished = trainings.finished_members(session, started.training_id)
        written = ship(chosen.folder, new_version(clock, started), finished, twin)
        print(f"{chosen.folder}: members {written.members}", flush=True)
    database.close()


def write_card(series: Series, command: str) -> None:
    """Write which command writes a series, except on the shelf: there the cards are written by hand."""
    if series.folder.parent != SHELF:
        series.folder.mkdir(parents=True, exist_ok=True)
        (series.folder / CARD).write_text(f"Written by `python -m {command}`; not a part of the product.\n")


def _report(name: str, member: int) -> Callable[[Progress], None]:
    def report(progress: Progress) -> None:
        if progress.validation is not None:
            print(f"{name} {member}: step {progress.step}, validation {progress.validation.value:.4f}", flush=True)

    return report
