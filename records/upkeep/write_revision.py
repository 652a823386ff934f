"""Write the next revision of the tables: `python -m records.upkeep.write_revision "what changed"`."""

import sys
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

import migrations
from migrations import configuration
from records.schema import Base


def write_revision(message: str, versions: Path) -> None:
    """Write `NUMBER_message.py`, to be corrected by hand: how the tables differ from the newest revision."""
    number = len(migrations.revisions(versions)) + 1
    with create_engine("sqlite://").begin() as connection:
        config = configuration(connection, versions)
        config.attributes["metadata"] = Base.metadata
        command.upgrade(config, "head")
        command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")


if __name__ == "__main__":
    write_revision(" ".join(sys.argv[1:]), migrations.VERSIONS)
