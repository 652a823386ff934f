"""Tables migrated under a running service, and a full disk: both are reported, and nothing is written."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, event, text
from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import row_counts
from tests.app.conftest import bearer

PARAMS = {"period": "1999-10-01..2008-09-30"}
JOB = {"kind": "evaluation", "params": PARAMS}
LARGE = {"kind": "ingest", "params": {"from": ["/srv/own"], "basins": [f"OWN-{number:08}" for number in range(100)]}}


def test_a_service_under_which_the_tables_were_changed_reads_and_writes_nothing(
    client: TestClient, database: Database
) -> None:
    key = bearer(database)
    assert client.get("/v1/basins").status_code == 200
    with database.transaction() as session:
        before = row_counts(session)
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for answer in (
        client.get("/v1/basins"),
        client.post("/v1/jobs", json=JOB, headers=key),
        client.get("/health/ready"),
    ):
        assert answer.status_code == 503
        assert answer.json()["type"] == "/problems/database"
        assert "revision 9999" in answer.json()["detail"]
    with database.transaction() as session:
        assert row_counts(session) == before


@pytest.fixture
def _no_room() -> Iterator[None]:
    """Let SQLite find no room for another page, as on a full disk."""

    def limit(connection: object, _record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute("PRAGMA max_page_count = 1")  # as many as there are
        cursor.close()

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


@pytest.mark.extended
def test_a_full_disk_is_reported_to_writers_while_readers_go_on(
    sqlite_database: Database, request: pytest.FixtureRequest
) -> None:
    key = bearer(sqlite_database)
    request.getfixturevalue("_no_room")
    client: TestClient = request.getfixturevalue("sqlite_client")
    answers = [client.post("/v1/jobs", json=LARGE, headers=key) for _ in range(200)]
    full = next(answer for answer in answers if answer.status_code != 202)
    assert (full.status_code, full.json()["type"]) == (507, "/problems/storage-full")
    assert "Free space on it" in full.json()["detail"]
    assert client.get("/v1/basins").status_code == 200
