"""Ingests published scores from a file."""

from dataclasses import asdict, dataclass

import structlog

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from ingestion.sources import benchmarks
from records.basins import basins
from records.database.work import Work
from records.series import revisions
from records.verification import published_scores

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ingested:
    """The outcome of ingesting a file of published scores.

    Attributes:
        source, citation: where the scores were published.
        models: their names.
        basins, basins_here: number of basins in the file, and of those that are stored here.
        new, changed, unchanged: number of scores.
    """

    source: str
    citation: str
    models: tuple[str, ...]
    basins: int
    basins_here: int
    new: int
    changed: int
    unchanged: int


def ingest_published(work: Work, published: benchmarks.Publication) -> Ingested:
    """Store the published scores of a file.

    The same file again stores nothing.

    Scores are stored for every basin in the file, so that basins may be ingested before or after them.
    """
    scores = [
        published_scores.PublishedScore(
            source=published.source,
            model=one.model,
            basin_id=one.basin,
            metric=one.metric,
            first_day=published.period.first,
            last_day=published.period.last,
            value=one.value,
            reason=absent(Reason.NOT_IN_PUBLISHED_FILE) if one.value is None else None,
        )
        for one in published.scores
    ]
    with work.database.transaction() as session:
        file = revisions.register_source(
            session, published.file.name, published.file.sha256, published.file.size, work.clock.wall()
        )
        publication = published_scores.Publication(
            source=published.source, citation=published.citation, file_id=file, stored_at=work.clock.wall()
        )
        stored = published_scores.store(session, publication, scores)
        here = {basin.id for basin in basins.list_basins(session)}
    named = {one.basin for one in published.scores}
    log.info("published.ingest", source=published.source, new=stored.new, changed=stored.changed)
    return Ingested(
        source=published.source,
        citation=published.citation,
        models=tuple(sorted({one.model for one in published.scores})),
        basins=len(named),
        basins_here=len(named & here),
        **asdict(stored),
    )
