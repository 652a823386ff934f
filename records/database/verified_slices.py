"""Slices of tables whose rows were found whole, with their marks then (`records.upkeep.slices`)."""

from datetime import datetime
from typing import Annotated, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.database.base import Long
from records.database.stored import stored, table_of, upsert


class Mark(NamedTuple):
    """The number of a slice's rows, and the sum of their hashes."""

    rows: int
    hashes: str


@stored("verified_slices", key=("table_name", "slice"))
class _Verified:
    """A slice of a table in which no row was damaged."""

    table_name: str
    slice: str
    rows: Annotated[int, Long()]
    hashes: str
    verified_at: datetime


_VERIFIED = table_of(_Verified)


def read(session: Session, table: str) -> dict[str, Mark]:
    rows = session.execute(select(_VERIFIED).filter_by(table_name=table))
    return {row.slice: Mark(row.rows, row.hashes) for row in rows}


def note(session: Session, table: str, slice_name: str, mark: Mark, at: datetime) -> None:
    upsert(session, _Verified, [{"table_name": table, "slice": slice_name, "verified_at": at, **mark._asdict()}])
