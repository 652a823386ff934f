"""Receipts of a replay: 100 runs of real basins computed again, with the program that issued them and with others.

Ten basins and the shipped ensemble, replayed over 100 issue days of a validation year from an empty store; then
`extensions.receipts.reproduce` of every run: with the same program every stored bit must be the same; with each other
recurrence that this processor runs, and with torch's own operations, the largest difference of the members' discharge
is reported. FRESHET_CAMELS names the data.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.regional import data
from extensions.receipts.reproduce import reproduce
from hydrology.base.calendar import Period
from jobspec.jobs.forecasting import ReplayParams
from models.nets.compiled import loader
from models.nets.compiled.loader import NoLibraryError
from models.nets.compiled.variants import VARIANTS, Variant
from operations.basin_data.ingest import ingest
from operations.daily.replay import replay
from operations.training.pretrained import install, read_shipped
from operations.versions.processes import program
from records.database.engine import Database
from records.runs import run_types
from records.runs.runs import RunRequest
from records.versions import promotions
from runtime.clock import Clock
from testing.work import work_of

ENSEMBLE = "mclstm-maurer-447"
ISSUE_DAYS = ReplayParams(period=Period.parse("1985-03-01..1985-06-08"), horizon=10, traces=11)
SHOWN = "discharge"


def measure(basins: int = 10) -> dict[str, Any]:
    """Return how many runs have the stored bits by program, and the largest differences."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'freshet.sqlite'}")
        database.migrate()
        issued = _replayed(database, names)
        issued_by, receipts = program(), {}
        for variant in _programs():
            with running(variant):
                receipts[program()] = _receipts(database, issued)
        database.close()
    shape = f"{len(issued)} runs, {len(names)} basins, {ISSUE_DAYS.traces} traces x {ISSUE_DAYS.horizon} days"
    return {"shape": shape, "issued_by": issued_by, "receipts": receipts}


def _replayed(database: Database, names: Sequence[str]) -> list[run_types.Run]:
    clock = Clock()
    failed = [outcome.error for outcome in ingest(work_of(database, clock), data.source(), names) if outcome.error]
    if failed:
        raise SystemExit("\n".join(failed))
    version = install(work_of(database, clock), read_shipped(ENSEMBLE)).version_id
    with database.transaction() as session:
        promotions.promote(session, version, names, reason="benchmark", by="benchmark", at=clock.wall())
    return replay(work_of(database, clock), RunRequest(ISSUE_DAYS)).runs


def _programs() -> Iterator[Variant | None]:
    """Yield the variants of the recurrence that this processor runs, the one in use first, then None: torch."""
    passed_over, used = loader.passed_over(), loader.choose()
    yield used
    for variant in VARIANTS:
        if variant.machine == used.machine and variant != used and variant.name not in passed_over:
            try:
                loader.load(variant)
            except NoLibraryError:
                continue
            yield variant
    yield None


@contextmanager
def running(variant: Variant | None) -> Iterator[None]:
    """Run the recurrence by a variant, or by torch's operations."""
    loaded = cache(lambda: None if variant is None else loader.load(variant))
    with mock.patch.object(loader, "library", loaded), mock.patch.object(loader, "choose", return_value=variant):
        yield


def _receipts(database: Database, issued: Sequence[run_types.Run]) -> dict[str, Any]:
    equal, causes, largest, relative = 0, Counter[str](), 0.0, 0.0
    for run in issued:
        receipt = reproduce(work_of(database), run.id)
        equal += receipt.reproduced == len(receipt.basins)
        different = [one for basin in receipt.basins for one in basin.different]
        causes.update(cause for one in different for cause in one.causes)
        of_flow = [one for one in different if one.variable == SHOWN]
        largest = max([largest, *(one.largest for one in of_flow if one.largest is not None)])
        relative = max([relative, *(one.relative for one in of_flow if one.relative is not None)])
    return {
        "bit_equal_runs": equal,
        "runs": len(issued),
        "causes_of_differing_arrays": dict(causes),
        "largest_difference_of_discharge_mm_per_day": largest,
        "of_the_largest_flow": relative,
    }
