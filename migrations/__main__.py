"""Write the next revision: the difference between the newest migrations and the tables in the code."""

import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine


def main(message: str) -> None:
    """Write `migrations/versions/<number>_<message>.py`, to be read and corrected by hand."""
    here = Path(__file__).parent
    number = len(list((here / "versions").glob("[0-9]*.py"))) + 1
    config = Config()
    config.set_main_option("script_location", str(here).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    with create_engine("sqlite://").begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
