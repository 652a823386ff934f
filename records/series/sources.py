"""Provenance: the files that data were read from."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.database.statements import insert_into
from records.series.tables import SourceRow


def register(session: Session, name: str, sha256: str, size: int, read_at: datetime) -> int:
    """Return the id of a source, stored once per name and content. `read_at` is the time of its first reading."""
    session.execute(
        insert_into(session, SourceRow).on_conflict_do_nothing(index_elements=["name", "sha256"]),
        {"name": name, "sha256": sha256, "size": size, "read_at": read_at},
    )
    query = select(SourceRow.id).where(SourceRow.name == name, SourceRow.sha256 == sha256)
    return session.scalars(query).one()
