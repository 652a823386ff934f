"""What an operator's key asked for is labelled wherever a page shows it."""

from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from records.access import keys
from records.database.engine import Database
from testing.records import BASIN, a_basin, a_promoted_version, a_run, a_version
from tests.app import factories as created

LABEL = "Not official."


@pytest.mark.parametrize("asked_by_operator", [True, False])
def test_the_page_of_an_operators_run_or_version_is_labelled(
    sqlite_database: Database, sqlite_client: TestClient, asked_by_operator: bool
) -> None:
    with sqlite_database.transaction() as session:
        key, _ = keys.make(session, "river office", "operator", None, datetime.now(UTC))
        owner = key.id if asked_by_operator else None
        asked = {"horizon_days": 3, "owner": owner, "purpose": "on-request" if owner else "operational"}
        run = a_run(session, a_promoted_version(session, a_basin(session)), created.forecast(), **asked)
        version = a_version(session, owner=owner)
    for page in (f"/basins/{BASIN}?run={run.id}", f"/models/{version.id}"):
        assert (LABEL in sqlite_client.get(page).text) is asked_by_operator, page
    assert ("not official" in sqlite_client.get("/models").text) is asked_by_operator
