"""Findings on the data of basins."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.basins import basins
from records.basins.tables import QualityRow
from records.database.base import JsonObject


def replace(session: Session, basin: str, product: str, findings: Sequence[JsonObject], at: datetime) -> None:
    """Replace all findings on a basin's data of one product. Repeating it writes nothing."""
    basins.lock(session, basin)
    row = session.get(QualityRow, (basin, product))
    if row is None:
        session.add(QualityRow(basin_id=basin, product=product, findings=list(findings), found_at=at))
    elif row.findings != list(findings):
        row.findings, row.found_at = list(findings), at
    session.flush()


def by_product(session: Session, basin: str) -> dict[str, list[JsonObject]]:
    """Return a basin's findings by product; unchecked products are left out."""
    rows = session.scalars(select(QualityRow).where(QualityRow.basin_id == basin).order_by(QualityRow.product))
    return {row.product: row.findings for row in rows}
