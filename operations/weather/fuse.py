"""Defines weather that is the mean of several products, and derives it from what is stored."""

from collections.abc import Sequence

import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, Problem
from hydrology.base.products import WEATHER
from ingestion.base import BasinData
from operations.basin_data import fused_data
from operations.basin_data.ingest import IngestResult, store
from records.basins import basins
from records.database.work import Work
from records.series import series
from records.weather import fused_products
from records.weather.fused_products import FusedProduct

log = structlog.get_logger()


class NothingToFuse(DataProblem):
    """No basin has weather of one of the products."""


def fuse(work: Work, product: str, parts: Sequence[str]) -> tuple[FusedProduct, list[IngestResult]]:
    """Store that a product is the mean of others, and derive it in all basins that have one of them.

    From then on it follows what is stored of its parts. Repeating it derives what is missing.
    """
    with work.database.transaction() as session:
        fused = fused_products.define(session, product, parts, work.clock.wall())
        names = [one.id for one in basins.list_basins(session)]
        held = {basin for part in parts for basin, _ in series.extent(session, names, part, [*WEATHER])}
        if not held:
            raise NothingToFuse(f"No basin has weather of {' or '.join(parts)}: ingest or fetch it first.")
    outcomes = []
    for done, basin in enumerate(sorted(held), start=1):
        outcomes.append(_derive(work, fused, basin))
        work.show(done, len(held), basin)
    log.info("weather.fused", product=product, basins=len(held))
    return fused, outcomes


def _derive(work: Work, fused: FusedProduct, basin: str) -> IngestResult:
    try:
        with work.database.transaction() as session:
            basins.lock(session, basin)
            return store(session, _of_record(session, fused, basin), work.clock, archive=True)
    except Problem as problem:
        log.warning("fuse.failed", product=fused.product, basin=basin, error=str(problem))
        return IngestResult(basin, "failed", error=str(problem))


def _of_record(session: Session, fused: FusedProduct, basin: str) -> BasinData:
    held = [one for one in series.catalogue(session, basin) if one.product in fused.parts and one.variable in WEATHER]
    days = Period(min(one.period.first for one in held), max(one.period.last for one in held))
    return fused_data.of_days(session, fused, basin, sorted({one.variable for one in held}), days)
