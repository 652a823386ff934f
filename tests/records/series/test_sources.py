"""A source is stored once per name and content."""

from sqlalchemy import select

from records.database.engine import Database
from records.series import revisions
from records.series.revisions import SOURCES
from testing.records import NOW, instant


def test_a_source_is_registered_once_per_name_and_content(database: Database) -> None:
    with database.transaction() as session:
        first = revisions.register_source(session, "a.zip!b.txt", "a" * 64, 5_000_000_000, NOW)
        assert (
            revisions.register_source(session, "a.zip!b.txt", "a" * 64, 5_000_000_000, instant("2020-01-01")) == first
        )
        assert revisions.register_source(session, "a.zip!b.txt", "b" * 64, 1, NOW) != first
        assert revisions.register_source(session, "c.txt", "a" * 64, 1, NOW) != first
        row = session.execute(select(SOURCES).where(SOURCES.c.id == first)).one()
        assert (row.name, row.sha256, row.size, row.read_at) == ("a.zip!b.txt", "a" * 64, 5_000_000_000, NOW)
