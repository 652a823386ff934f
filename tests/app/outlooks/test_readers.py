"""Every reader shows the numbers of the outlook, of whatever distribution they are."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import BASIN
from tests.app.adjustments.test_adjustments import draft, publish
from tests.app.conftest import bearer
from tests.app.outlooks.readers import READERS, Shown
from tests.app.outlooks.test_outlooks import fill_records

Case = Callable[[Database, TestClient], None]


def _issued(database: Database, _client: TestClient) -> None:
    fill_records(database)


def _of_members(database: Database, _client: TestClient) -> None:
    fill_records(database, calibrated=False)


def _adjusted(database: Database, client: TestClient) -> None:
    fill_records(database)
    ann, run = bearer(database, "forecaster", "Ann"), Shown(client, BASIN).outlook["run"]
    publish(client, ann, draft(client, ann, run, factor=3.0, shift_days=1, chances={"dam": 0.2})["id"])


@pytest.mark.parametrize("case", [_issued, _of_members, _adjusted])
def test_every_reader_shows_the_outlook(sqlite_database: Database, sqlite_client: TestClient, case: Case) -> None:
    case(sqlite_database, sqlite_client)
    shown = Shown(sqlite_client, BASIN)
    assert [fault for reader in READERS for fault in reader.faults(shown)] == []
    assert sum(reader.expected(shown.outlook) is not None for reader in READERS) >= 10
