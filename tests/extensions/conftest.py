"""The services that tests of the API share."""

from tests.app.conftest import _no_app_stays, client, sqlite, sqlite_client, sqlite_database
from tests.app.exports.conftest import exporting

__all__ = ["_no_app_stays", "client", "exporting", "sqlite", "sqlite_client", "sqlite_database"]
