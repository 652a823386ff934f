"""The revisions of the database's tables. It imports nothing of Freshet, so that a revision stays what it is."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

if TYPE_CHECKING:
    from alembic.config import Config

VERSIONS = Path(__file__).parent / "versions"
"""Holds a file for each revision: `0001_what_changed.py`."""


@cache
def revisions(versions: Path) -> tuple[str, ...]:
    """Return the revisions in a folder at the first call, oldest first.

    Alembic is not asked: to load it costs more than most commands.
    """
    return tuple(sorted(file.name.partition("_")[0] for file in versions.glob("[0-9]*_*.py")))


def move(connection: Connection, current: str | None, target: str) -> None:
    """Upgrade or downgrade the tables within the connection's transaction.

    `current` is None where there are no tables.
    """
    from alembic import command

    names = revisions(VERSIONS)
    is_older = current is not None and names.index(target) < names.index(current)
    (command.downgrade if is_older else command.upgrade)(configuration(connection, VERSIONS), target)


def configuration(connection: Connection, versions: Path) -> "Config":
    """Return the configuration of Alembic that runs the revisions in a folder on a connection."""
    from alembic.config import Config

    config = Config()
    options = {
        "script_location": str(Path(__file__).parent),
        "version_locations": str(versions),
        "path_separator": "newline",
        "file_template": "%(rev)s_%(slug)s",
    }
    for name, value in options.items():
        config.set_main_option(name, value.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
