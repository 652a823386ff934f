"""A PostgreSQL whose own disk is full is reported, though the data folder has room."""

import os
from pathlib import Path

import pytest

from testing.databases import PostgreSQL
from tests.app.conftest import serving
from tests.disks import disk, filled


@pytest.mark.extended
def test_a_full_disk_of_the_database_is_reported_until_there_is_room(postgresql: PostgreSQL, tmp_path: Path) -> None:
    url = postgresql.migrated()
    with disk(postgresql.socket / "small", "8m") as folder:
        os.chown(folder, postgresql.socket.stat().st_uid, -1)
        postgresql.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        postgresql.execute("ALTER ROLE postgres SET temp_tablespaces = small")
        try:
            with serving(url, data=tmp_path / "data") as client:
                assert "disk" not in client.get("/health/ready").json()["degraded"]
                with filled(folder):
                    answer = client.get("/v1/status")
                    sentences = {one["code"]: one["sentence"] for one in answer.json()["degraded"]}
                    assert "No space left on device" in sentences["disk"]
                    assert sentences["disk"].startswith("The database cannot store anything")
                assert "disk" not in {one["code"] for one in client.get("/v1/status").json()["degraded"]}
        finally:
            postgresql.execute("ALTER ROLE postgres RESET temp_tablespaces")
            postgresql.execute("DROP TABLESPACE small")
