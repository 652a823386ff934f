"""A full data folder is answered 507 where something is uploaded, and leaves nothing half written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from records.database.engine import Database
from tests.app.conftest import bearer, serving
from tests.disks import disk, filled
from workers.queue import uploads

TABLE = b"basin,date,prcp\n" + b"MINE-1,2008-01-01,1.5\n" * 10_000
ISSUE = b"{" + b" " * 200_000 + b"}"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder on a small disk; the database is elsewhere."""
    with disk(tmp_path / "disk", "4m") as data:
        yield data


@pytest.mark.parametrize("room", [0, 4096])
@pytest.mark.parametrize(
    ("path", "content", "media"),
    [
        ("/v1/basins/observations?product=mill", TABLE, "text/csv"),
        ("/v1/weather", ISSUE, "application/json"),
        ("/v1/weather", b"CDF\x01" + bytes(200_000), "application/x-netcdf"),
    ],
)
def test_an_upload_to_a_full_disk_is_answered_507(
    sqlite: str, sqlite_database: Database, folder: Path, room: int, path: str, content: bytes, media: str
) -> None:
    header = bearer(sqlite_database) | {"Content-Type": media}
    with serving(sqlite, data=folder) as client:
        with filled(folder, room):
            full = client.post(path, content=content, headers=header)
            assert (full.status_code, full.json()["type"]) == (507, "/problems/storage-full")
            assert "data folder is full. Free space on it" in full.json()["detail"]
            assert [*uploads.folder(folder).glob("*")] == []
            assert client.get("/v1/basins").status_code == 200
            assert client.get("/v1/jobs", headers=header).json()["jobs"] == []
        assert client.post(path, content=content, headers=header).status_code == 202


def test_the_secret_of_a_webhook_is_not_stored_on_a_full_disk(
    sqlite: str, sqlite_database: Database, folder: Path
) -> None:
    with serving(sqlite, data=folder) as client, filled(folder):
        full = client.post("/v1/subscriptions", json={"url": "https://hooks.example/"}, headers=bearer(sqlite_database))
    assert (full.status_code, full.json()["type"]) == (507, "/problems/storage-full")


def test_another_system_error_is_not_taken_for_a_full_disk(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file where the folder was")
    with serving(sqlite, data=tmp_path / "data") as client:
        header = bearer(sqlite_database) | {"Content-Type": "text/csv"}
        failed = client.post("/v1/basins/observations?product=mill", content=TABLE, headers=header)
    assert (failed.status_code, failed.json()["type"]) == (500, "/problems/internal")
