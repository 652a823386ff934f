"""Published scores from their file into the records."""

from dataclasses import dataclass
from pathlib import Path

import structlog

from ingestion.reading import ANY_FILES, Files
from ingestion.sources import benchmarks as source
from records import basins, benchmark_scores, sources
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()

_NONE_GIVEN = "The published file gives none."


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a file of published scores.

    Attributes:
        source, citation: where they are from.
        models: their names.
        basins, basins_here: how many it speaks of, and how many of them are kept here.
        new, changed, unchanged: scores.
    """

    source: str
    citation: str
    models: tuple[str, ...]
    basins: int
    basins_here: int
    new: int
    changed: int
    unchanged: int


def ingest_published(database: Database, clock: Clock, path: Path, files: Files = ANY_FILES) -> Ingested:
    """Keep the published scores of a file; the same again stores nothing.

    They are kept for every basin that the file speaks of, so that it does not matter which is ingested first.

    Raises:
        SourceError: the file cannot be used. It is taken whole or not at all.
    """
    read = source.read(path, files)
    scores = [
        benchmark_scores.PublishedScore(
            source=read.source,
            model=one.model,
            basin_id=one.basin,
            metric=one.metric,
            first_day=read.period.first,
            last_day=read.period.last,
            value=one.value,
            reason=_NONE_GIVEN if one.value is None else None,
        )
        for one in read.scores
    ]
    with database.transaction() as session:
        file = sources.register(session, read.file.name, read.file.sha256, read.file.size, clock.wall())
        publication = benchmark_scores.Publication(
            source=read.source, citation=read.citation, file_id=file, kept_at=clock.wall()
        )
        kept = benchmark_scores.keep(session, publication, scores)
        here = {basin.id for basin in basins.list_basins(session)}
    named = {one.basin for one in read.scores}
    log.info("published.ingest", source=read.source, new=kept.new, changed=kept.changed)
    return Ingested(
        source=read.source,
        citation=read.citation,
        models=tuple(sorted({one.model for one in read.scores})),
        basins=len(named),
        basins_here=len(named & here),
        new=kept.new,
        changed=kept.changed,
        unchanged=kept.unchanged,
    )
