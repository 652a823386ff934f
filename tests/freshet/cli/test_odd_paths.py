"""A folder's name means itself, whatever its characters mean in a URL."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from records.database.connections import is_locked
from records.database.engine import Database
from runtime.settings import BadSettings, Settings
from testing.jobs.processes import end
from testing.records import a_basin
from tests.freshet.conftest import Freshet
from workers.queue.broker import broker_url, lives, start_embedded
from workers.queue.enqueue import make_app

NAMES = ("run?1", "run?2", "site%41", "a#b", "ü ö", "x&y=z", "50%", "a;b+c,d", "b@c:d", "redis+unix", "'q\"")
WHOLE = "run?1 site%41 a#b ü ö x&y=z 50% ;+,@: 'q\""


def test_each_folder_has_its_own_database(migrated_sqlite: Path, tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(migrated_sqlite, folder / "freshet.sqlite")
        settings = Settings(data=folder)
        with closing(Database.of(settings)) as database:
            assert database.file == folder / "freshet.sqlite"
            with database.transaction() as session:
                a_basin(session, f"basin-{number}")
                assert number or is_locked(settings.database_url)
            assert not is_locked(settings.database_url)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", ["two\nlines", "tab\there", "\udcff"])
def test_a_path_that_no_url_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("FRESHET_DATA", str(tmp_path / name))
    with pytest.raises(BadSettings, match=r"FRESHET_DATA: .*without control characters"):
        Settings.load()


@pytest.mark.extended
def test_the_socket_of_the_broker_is_in_the_folder(tmp_path: Path) -> None:
    for name in NAMES:
        settings = Settings(data=tmp_path / name)
        process = start_embedded(settings)
        try:
            assert lives(settings)
            with make_app(settings).connection_for_write() as connection:
                connection.ensure_connection(max_retries=1)
        finally:
            end(process)
        assert broker_url(settings).isascii()


@pytest.mark.extended
def test_a_store_is_created_backed_up_and_restored_by_commands(tmp_path: Path) -> None:
    first, second = (Freshet(tmp_path / kind / WHOLE) for kind in ("first", "second"))
    for store in (first, second):
        store.data.mkdir(parents=True)
    backup = tmp_path / "backup #1?.zip"
    assert first("keys", "make", "river office").code == 0
    assert first("backup", str(backup)).code == 0
    assert second("restore", str(backup)).code == 0
    assert second("keys", "list", "--json").json == first("keys", "list", "--json").json
    assert first("check").code == second("check").code == 0
    assert {path.name for path in (tmp_path / "first").iterdir()} == {WHOLE}
