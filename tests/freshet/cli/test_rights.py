"""Files that Freshet creates belong to their owner alone, whatever the umask; open ones are reported."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.database.engine import Database
from runtime import stored_files
from runtime.settings import Settings
from tests.freshet.conftest import Freshet
from workers.queue.broker import start_embedded


@pytest.fixture(params=[0o000, 0o022, 0o077])
def careless(request: pytest.FixtureRequest) -> Iterator[int]:
    """A process whose umask closes little or nothing."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


@pytest.mark.usefixtures("careless")
def test_a_new_database_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    database = Database(f"sqlite:///{folder / 'freshet.sqlite'}")
    database.migrate()
    held = sqlite3.connect(folder / "freshet.sqlite")  # while somebody reads, its log stays beside it
    held.execute("SELECT * FROM basins").fetchall()
    with database.transaction():
        found = modes(folder)
    held.close()
    database.close()
    assert {"freshet.sqlite", "freshet.sqlite-wal", "freshet.sqlite-shm", "freshet.sqlite.lock"} <= found.keys()
    assert found.pop("data") == 0o700
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert set(found.values()) == {0o600}


@pytest.mark.usefixtures("careless")
def test_the_brokers_files_are_its_owners_alone(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    broker = start_embedded(settings)
    try:
        files = {path: path.stat().st_mode & 0o077 for path in (tmp_path / "data").rglob("*")}
    finally:
        broker.terminate()
        broker.wait()
    assert len(files) >= 3  # its folder, its socket, its log
    assert set(files.values()) == {0}


@pytest.mark.extended
def test_a_folder_that_is_open_to_others_is_reported_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=stored_files.FOLDER)
    freshet = Freshet(tmp_path / "data")
    freshet("keys", "make", "river office")

    def reported() -> list[str]:
        checks = freshet("doctor", "--json").json["checks"]
        return [check["detail"] for check in checks if check["name"] == "rights" and not check["ok"]]

    assert reported() == []
    (tmp_path / "data").chmod(0o755)
    assert [f"chmod 700 {tmp_path / 'data'}" in sentence for sentence in reported()] == [True]
    (tmp_path / "data").chmod(0o700)
    (tmp_path / "data" / "freshet.sqlite").chmod(0o644)
    assert ["chmod 600" in sentence for sentence in reported()] == [True]


def test_an_existing_folder_retains_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o750)
    before = (tmp_path / "mine").stat().st_mode
    stored_files.make_folder(tmp_path / "mine" / "data")
    assert (tmp_path / "mine").stat().st_mode == before
