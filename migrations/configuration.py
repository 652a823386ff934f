"""The configuration of Alembic. To load it costs more than most commands: import it where it is used."""

from pathlib import Path

from alembic.config import Config
from sqlalchemy import Connection


def configuration(connection: Connection, versions: Path) -> Config:
    """Return the configuration that runs the revisions in a folder on a connection."""
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
