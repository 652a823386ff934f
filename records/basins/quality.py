"""Findings on the data of basins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from sqlalchemy import ForeignKey, select
from sqlalchemy.orm import Session

from records.basins import basins
from records.database.base import JsonList, JsonObject
from records.database.statements import as_values, table_of, upsert
from records.database.stored import stored


@stored("basin_quality", key=("basin_id", "product"))
@dataclass(frozen=True, slots=True)
class _Findings:
    """Errors and oddities of a basin's data of one product."""

    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    findings: JsonList
    found_at: datetime


_FINDINGS = table_of(_Findings)


def replace(session: Session, basin: str, product: str, findings: Sequence[JsonObject], at: datetime) -> None:
    """Replace all findings on a basin's data of one product. Repeating it writes nothing."""
    basins.lock(session, basin)
    upsert(session, _Findings, [as_values(_Findings(basin, product, list(findings), at))], compared=("findings",))


def by_product(session: Session, basin: str) -> dict[str, list[JsonObject]]:
    """Return a basin's findings by product; unchecked products are left out."""
    found = select(_FINDINGS.c.product, _FINDINGS.c.findings).where(_FINDINGS.c.basin_id == basin)
    return dict(session.execute(found.order_by(_FINDINGS.c.product)).all())
