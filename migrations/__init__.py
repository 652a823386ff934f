"""The revisions of the database's tables. It imports nothing of Freshet, so that a revision stays what it is."""

from functools import cache
from pathlib import Path

from sqlalchemy import Connection

VERSIONS = Path(__file__).parent / "versions"
"""Holds a file for each revision: `0001_what_changed.py`."""


@cache
def revisions(versions: Path) -> tuple[str, ...]:
    """Return the revisions in a folder, oldest first.

    They are those at the first call, whatever is installed later. Alembic is not asked: to load it costs more than most
    commands.
    """
    return tuple(sorted(file.name.partition("_")[0] for file in versions.glob("[0-9]*_*.py")))


def move(connection: Connection, current: str | None, target: str) -> None:
    """Upgrade or downgrade the tables within the connection's transaction.

    Args:
        current: their revision; None where there are no tables.
        target: the wanted revision.
    """
    from alembic import command

    from migrations.configuration import configuration

    names = revisions(VERSIONS)
    is_older = current is not None and names.index(target) < names.index(current)
    (command.downgrade if is_older else command.upgrade)(configuration(connection, VERSIONS), target)
