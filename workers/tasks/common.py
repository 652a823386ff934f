"""Shared parts of job handlers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from hydrology.base.errors import DataProblem
from records.jobs import attempts
from workers.job import JobRun

if TYPE_CHECKING:
    from operations.basin_data.ingest import IngestResult
    from operations.basin_data.sources import Intake


MAX_REPORTED = 100  # basins whose refusals a job's result lists; its log lists all


def intake_of(running: JobRun) -> "Intake":
    """Return the places that a job may read files from."""
    from operations.basin_data.sources import Intake

    settings = running.work.settings

    def show(received: int, size: int | None) -> None:
        running.show(received, size or received, "bytes")

    downloads = settings.data / "downloads"
    return Intake(downloads, settings.ingest_hosts, running.roots, show, on_file(running))


def on_file(running: JobRun) -> Callable[[str], None]:
    """Return a callback that shows each file before it is read. It refuses files at which the process died twice."""
    from ingestion.base import SourceError

    with running.work.database.reading() as session:
        deadly = attempts.deadly_files(session, running.job.id)

    def show(name: str) -> None:
        if name in deadly:
            cause = f"the process that read it {deadly[name]}, twice"
            raise SourceError(name, cause, "get it from its publisher again, or leave it out")
        running.show_file(name)

    return show


def counted(outcomes: Sequence["IngestResult"], done: str) -> dict[str, Any]:
    """Return a job's result by basin; raise if all of them failed."""
    failed = {outcome.basin: outcome.error for outcome in outcomes if outcome.status == "failed"}
    if failed and len(failed) == len(outcomes):
        raise DataProblem(f"None of the {len(outcomes)} basins could be {done}. {next(iter(failed.values()))}")
    counts = Counter(outcome.status for outcome in outcomes)
    odd = {outcome.basin: outcome.input_warnings for outcome in outcomes if outcome.input_warnings}
    return {"counts": dict(counts), "failed": failed, **warned(odd)}


def warned(warnings: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the part of a job's result with oddities of the input, by basin. Empty without any."""
    if not warnings:
        return {}
    first = {basin: list(odd) for basin, odd in islice(warnings.items(), MAX_REPORTED)}
    return {"warnings": first, "warned_basins": len(warnings)}
