"""Defines weather that is the mean of several products, and derives it from what is stored."""

from collections.abc import Sequence

import structlog

from hydrology.base.errors import DataProblem, Problem
from operations.basin_data import fused_data
from operations.basin_data.ingest import IngestResult, store
from records.basins import basins
from records.database.work import Work
from records.weather import fused_products
from records.weather.fused_products import FusedProduct

log = structlog.get_logger()


class NothingToFuse(DataProblem):
    """No basin has weather of all of the products."""


def fuse(work: Work, product: str, parts: Sequence[str]) -> tuple[FusedProduct, list[IngestResult]]:
    """Store that a product is the mean of others, and derive it in all basins that have these.

    From then on it follows what is stored of its parts. Repeating it derives what is missing.
    """
    with work.database.transaction() as session:
        fused = fused_products.define(session, product, parts, work.clock.wall())
        names = [one.id for one in basins.list_basins(session)]
        covered = fused_data.covered(session, fused, names)
        if not covered:
            raise NothingToFuse(f"No basin has weather of {' and '.join(parts)}: ingest or fetch it first.")
    outcomes = []
    for done, basin in enumerate(covered, start=1):
        outcomes.append(_derive(work, fused, basin))
        work.show(done, len(covered), basin)
    log.info("weather.fused", product=product, basins=len(covered))
    return fused, outcomes


def _derive(work: Work, fused: FusedProduct, basin: str) -> IngestResult:
    try:
        with work.database.transaction() as session:
            basins.lock(session, basin)
            return store(session, fused_data.of_record(session, fused, basin), work.clock, archive=True)
    except Problem as problem:
        log.warning("fuse.failed", product=fused.product, basin=basin, error=str(problem))
        return IngestResult(basin, "failed", error=str(problem))
