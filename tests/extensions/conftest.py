"""The services and the command line that tests of extensions share."""

from tests.app.conftest import _no_app_stays, client, sqlite, sqlite_client, sqlite_database
from tests.app.exports.conftest import exporting
from tests.freshet.conftest import _no_settings, country, freshet, ingested, ingested_data, worked, worked_data
from tests.ingestion.feeds.conftest import live

__all__ = [
    "_no_app_stays",
    "_no_settings",
    "client",
    "country",
    "exporting",
    "freshet",
    "ingested",
    "ingested_data",
    "live",
    "sqlite",
    "sqlite_client",
    "sqlite_database",
    "worked",
    "worked_data",
]
