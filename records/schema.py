"""All tables: importing this module fills `Base.metadata`, to copy, check or migrate all of them.

`python -m records.schema "what changed"` writes their next revision.
"""

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from sqlalchemy import NullPool, create_engine

import migrations
import records
from records.database.base import Base

__all__ = ["Base", "write_revision"]

for _module in walk_packages(records.__path__, "records."):
    # Upkeep has no tables, and imports this module.
    if not _module.name.startswith(("records.schema", "records.upkeep")):
        import_module(_module.name)


def write_revision(message: str, versions: Path) -> None:
    """Write `NUMBER_message.py`, to be corrected by hand: how the tables differ from the newest revision."""
    from alembic import command

    number = len(migrations.revisions(versions)) + 1
    with create_engine("sqlite://", poolclass=NullPool).begin() as connection:
        config = migrations.configuration(connection, versions)
        config.attributes["metadata"] = Base.metadata
        command.upgrade(config, "head")
        command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")


if __name__ == "__main__":
    write_revision(" ".join(sys.argv[1:]), migrations.VERSIONS)
