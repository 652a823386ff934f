"""A backup holds one instant of everything, and fills an empty database with it, whole or not at all."""

import errno
import shutil
import sqlite3
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import select, update

from hydrology.base.errors import InvalidInput
from jobspec.subscriptions import NewSubscription
from records.access import audit, keys
from records.access.audit import AUDIT
from records.alerts import dispatch, subscriptions
from records.alerts.signatures import KEY_FILE, service_key
from records.database.engine import Database
from records.jobs import jobs
from records.series.year_rows import SERIES
from records.upkeep.backup import MANIFEST, ROWS, NoBackup, NotEmpty, copy_rows, counts, make, restore
from runtime.settings import Settings
from testing.country import CLOCK
from testing.databases import PostgreSQL
from testing.records import contents
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once

pytestmark = pytest.mark.extended


def settings_in(folder: Path) -> Settings:
    folder.mkdir(exist_ok=True)
    return Settings(data=folder)


def show(_done: int, _total: int) -> None:
    pass


@pytest.fixture
def there(tmp_path: Path) -> Settings:
    return settings_in(tmp_path / "there")


@pytest.fixture(scope="session")
def backup_file(trained_file: Path) -> Path:
    """A backup of the country and its version, to be copied."""

    def back_up(folder: Path) -> None:
        with closing(Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")) as database:
            make(settings_in(folder / "here"), database, CLOCK, folder / "backup", show)

    return filled_once(trained_file.parent / "backed-up", back_up) / "backup"


@pytest.fixture
def file(backup_file: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(backup_file, tmp_path / "backup"))


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Database]:
    """A SQLite database that does not exist yet."""
    database = Database(f"sqlite:///{tmp_path / 'new' / 'freshet.sqlite'}")
    yield database
    database.close()


def everything(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.reading() as session:
        return contents(session)


def write(database: Database, *subjects: str) -> None:
    """Write rows that number themselves, in one transaction."""
    with database.transaction() as session:
        for subject in subjects:
            audit.record(session, audit.command_line(), "key created", subject, CLOCK.wall())


def subjects(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(AUDIT.c.subject).order_by(AUDIT.c.seq)))


def test_a_backup_goes_from_either_database_to_the_other_and_back(
    trained_store: Database, file: Path, database: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    manifest = restore(there, database, file, show)
    assert everything(database) == everything(trained_store)
    with trained_store.reading() as session:
        assert manifest.row_count == sum(counts(session).values())

    make(there, database, CLOCK, tmp_path / "second", show)
    restore(there, new, tmp_path / "second", show)
    assert everything(new) == everything(trained_store)


def test_rows_go_on_to_be_numbered_after_those_that_were_restored(
    trained_store: Database, database: Database, there: Settings, tmp_path: Path
) -> None:
    write(trained_store, "first", "second")
    make(there, trained_store, CLOCK, tmp_path / "backup", show)
    restore(there, database, tmp_path / "backup", show)
    write(database, "third")
    assert subjects(database) == ["first", "second", "third"]


def test_a_job_of_a_machine_whose_clock_is_behind_is_restored_with_its_parent(
    trained_store: Database, database: Database, there: Settings, tmp_path: Path
) -> None:
    now = CLOCK.wall()
    with trained_store.transaction() as session:
        parent, _ = jobs.create(session, jobs.NewJob(kind="evaluate", queue="service", params={}), now)
        part = jobs.NewJob(kind="evaluate", queue="service", params={}, parent_id=parent.id)
        child, _ = jobs.create(session, part, now - timedelta(seconds=5))
    assert child.id < parent.id
    make(there, trained_store, CLOCK, tmp_path / "backup", show)
    restore(there, database, tmp_path / "backup", show)
    assert everything(database) == everything(trained_store)


def test_concurrent_writes_are_in_the_backup_wholly_or_not_at_all(
    trained_store: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    ended = threading.Event()

    def write_pairs() -> None:
        while not ended.is_set():
            write(trained_store, "first", "second")

    writer = threading.Thread(target=write_pairs)
    writer.start()
    try:
        make(there, trained_store, CLOCK, tmp_path / "backup", show)
    finally:
        ended.set()
        writer.join()
    restore(settings_in(tmp_path / "elsewhere"), new, tmp_path / "backup", show)
    halves = subjects(new)
    assert halves.count("first") == halves.count("second") > 0


def test_the_key_of_webhooks_goes_with_it(
    trained_store: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    here = settings_in(tmp_path / "here")
    key = service_key(here)
    make(here, trained_store, CLOCK, tmp_path / "backup", show)
    service_key(there)
    with pytest.raises(NotEmpty, match="differs from the backup's key of webhooks"):
        restore(there, new, tmp_path / "backup", show)
    (there.data / KEY_FILE).unlink()
    restore(there, new, tmp_path / "backup", show)
    assert service_key(there) == key


def test_no_row_is_restored_before_the_key_of_webhooks_is_there(
    trained_store: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    here = settings_in(tmp_path / "here")
    key = service_key(here)
    make(here, trained_store, CLOCK, tmp_path / "backup", show)

    def interrupt(_done: int, _total: int) -> None:
        assert service_key(there) == key
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(there, new, tmp_path / "backup", interrupt)
    with new.reading() as session:
        assert not any(counts(session).values())
    restore(there, new, tmp_path / "backup", show)
    assert everything(new) == everything(trained_store)


def test_only_its_owner_can_read_it(file: Path) -> None:
    assert file.stat().st_mode & 0o077 == 0


def test_no_file_is_overwritten(trained_store: Database, file: Path, there: Settings) -> None:
    before = file.read_bytes()
    with pytest.raises(Exception, match="backups are not overwritten"):
        make(there, trained_store, CLOCK, file, show)
    assert file.read_bytes() == before


@pytest.fixture(params=[None, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def with_and_without_links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with hard links, and ones that refuse them in their own ways."""

    def refuse(*_: object) -> None:
        raise OSError(request.param, "no hard links")

    if request.param is not None:
        monkeypatch.setattr("os.link", refuse)


@pytest.mark.usefixtures("with_and_without_links")
def test_a_backup_is_written_and_restored_with_and_without_hard_links(
    trained_store: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    here, folder = settings_in(tmp_path / "here"), settings_in(tmp_path / "backups").data
    key = service_key(here)
    make(here, trained_store, CLOCK, folder / "backup", show)
    assert [path.name for path in folder.iterdir()] == ["backup"]
    test_only_its_owner_can_read_it(folder / "backup")
    restore(there, new, folder / "backup", show)
    assert everything(new) == everything(trained_store)
    assert service_key(there) == key


@pytest.mark.usefixtures("with_and_without_links")
def test_a_file_that_appears_meanwhile_is_not_overwritten(
    trained_store: Database, there: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "backup"

    def write_another(_done: int, _total: int) -> None:
        file.write_text("somebody else's")

    with pytest.raises(FileExistsError):
        make(there, trained_store, CLOCK, file, write_another)
    assert file.read_text() == "somebody else's"
    assert sorted(path.name for path in tmp_path.glob("*backup*")) == ["backup"]


def test_a_database_that_holds_something_is_left_as_it_is(trained_store: Database, file: Path, there: Settings) -> None:
    before = everything(trained_store)
    with pytest.raises(NotEmpty, match="holds data already"):
        restore(there, trained_store, file, show)
    assert everything(trained_store) == before


@pytest.mark.parametrize("place", [0.01, 0.3, 0.6, 0.9])
def test_a_changed_byte_is_found_and_nothing_is_restored(
    file: Path, new: Database, there: Settings, place: float
) -> None:
    content = bytearray(file.read_bytes())
    content[int(place * len(content))] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(NoBackup):
        restore(there, new, file, show)
    with new.reading() as session:
        assert not any(counts(session).values())
    assert list(there.data.iterdir()) == []


def rewritten(file: Path, **changes: object) -> Path:
    """Write the archive anew with some of its files changed: None leaves one out."""
    with zipfile.ZipFile(file) as archive:
        names = {name: archive.read(name) for name in archive.namelist()}
    other = file.with_suffix(".other")
    with zipfile.ZipFile(other, "w") as archive:
        for name, content in (names | {name.replace("__", "."): new for name, new in changes.items()}).items():
            if content is not None:
                archive.writestr(name, content)  # type: ignore[arg-type]
    return other


@pytest.mark.parametrize(
    "changes",
    [
        {"manifest__json": b"{}"},
        {"manifest__json": b" " * 20_000},
        {"manifest__json": None},
        {
            "manifest__json": b'{"created_at":"2026-01-01T00:00:00Z","code_version":"1","row_count":1,'
            b'"sha256":{"../x":"' + b"0" * 64 + b'"}}'
        },
        {"freshet__sqlite": b"no rows"},
    ],
)
def test_a_file_that_is_not_a_backup_is_refused(
    file: Path, new: Database, there: Settings, changes: dict[str, bytes | None]
) -> None:
    with pytest.raises(NoBackup):
        restore(there, new, rewritten(file, **changes), show)


@pytest.mark.parametrize(
    "damage",
    [
        "ALTER TABLE basins RENAME COLUMN name TO title",
        "UPDATE versions SET created_at = 'yesterday'",
    ],
)
def test_rows_that_cannot_be_read_are_refused(
    file: Path, new: Database, there: Settings, tmp_path: Path, damage: str
) -> None:
    refuse(changed(file, tmp_path, damage), new, there)


def changed(file: Path, folder: Path, *statements: str) -> Path:
    """Return a backup whose rows were changed by whoever can reckon its digests."""
    with zipfile.ZipFile(file) as archive:
        rows, manifest = Path(archive.extract(ROWS, folder)), archive.read(MANIFEST)
    before = sha256(rows.read_bytes()).hexdigest()
    with closing(sqlite3.connect(rows, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    content = rows.read_bytes()
    manifest = manifest.replace(before.encode(), sha256(content).hexdigest().encode())
    return rewritten(file, manifest__json=manifest, freshet__sqlite=content)


def refuse(backup: Path, new: Database, there: Settings, result: str = "not a backup of Freshet") -> None:
    with pytest.raises(NoBackup, match=result):
        restore(there, new, backup, show)
    with new.reading() as session:
        assert not any(counts(session).values())
    assert list(there.data.iterdir()) == []


ENDLESS = "AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"
IN_PLACE = "UPDATE sqlite_master SET"


@pytest.mark.parametrize(
    ("statements", "result"),
    [
        ([f"CREATE VIEW more {ENDLESS} FROM n"], "it has the view more"),
        (["ALTER TABLE feeds RENAME TO other", f"CREATE VIEW feeds {ENDLESS} AS name FROM n"], "the view feeds"),
        (["DROP TABLE alembic_version", f"CREATE VIEW alembic_version {ENDLESS} AS version_num FROM n"], "the view al"),
        (["CREATE TRIGGER more AFTER INSERT ON feeds BEGIN DELETE FROM basins; END"], "the trigger more"),
        (["CREATE VIRTUAL TABLE more USING rtree(id, low, high)"], "the table more"),
        (["CREATE TABLE more (x)"], "the table more, which is not one of Freshet's"),
        (["CREATE INDEX more ON basins (hex(zeroblob(100000000)))"], "the index more"),
        (["DROP INDEX ix_jobs_status"], "it lacks the index ix_jobs_status"),
        (["ALTER TABLE basins ADD COLUMN more TEXT"], "its table basins is not"),
        (["ALTER TABLE basins ADD COLUMN more AS (hex(zeroblob(100000000)))"], "its table basins is not"),
        (
            [
                "PRAGMA writable_schema = ON",
                f"{IN_PLACE} sql = substr(sql, 1, length(sql) - 1) || ', CHECK (zeroblob(9)))' WHERE name = 'feeds'",
            ],
            "its table feeds is not",
        ),
        (
            [
                "PRAGMA writable_schema = ON",
                f"{IN_PLACE} rootpage = (SELECT max(rootpage) FROM sqlite_master) WHERE name = 'feeds'",  # noqa: S608
            ],
            "a damaged",
        ),
        (["PRAGMA writable_schema = ON", f"{IN_PLACE} sql = 'SELECT 1' WHERE name = 'feeds'"], "or is damaged"),
        (["DELETE FROM alembic_version"], "not a backup of Freshet"),
        (["UPDATE alembic_version SET version_num = '9999'"], r"a newer Freshet \(revision 9999\)"),
    ],
)
def test_rows_in_other_tables_are_refused_before_any_is_read(
    file: Path, new: Database, there: Settings, tmp_path: Path, statements: list[str], result: str
) -> None:
    refuse(changed(file, tmp_path, *statements), new, there, result)


def test_a_backup_of_an_older_revision_is_restored(
    file: Path, trained_store: Database, new: Database, there: Settings, later_revision: str
) -> None:
    before = everything(trained_store)
    restore(there, new, file, show)
    assert new.check().revision == later_revision
    assert everything(new) == before


def test_a_packed_archive_is_refused_before_it_is_opened(new: Database, there: Settings, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, b"{}")
        archive.writestr(ROWS, b"0" * 1_000_000)
    with pytest.raises(NoBackup, match="packed"):
        restore(there, new, bomb, show)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"manifest.json", b"\xa9anifest.json"),  # a name that is not UTF-8, which the flag beside it claims
        (b"PK\x05\x06", b"PK\x05\x07"),
        (b"PK\x03\x04", b"PK\x03\x05"),
    ],
)
def test_a_damaged_list_of_files_is_refused(
    new: Database, there: Settings, tmp_path: Path, before: bytes, after: bytes
) -> None:
    other = tmp_path / "other"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(MANIFEST, b"{}")
        archive.infolist()[0].flag_bits |= 0x800
    other.write_bytes(other.read_bytes().replace(before, after, 1).replace(b"\x14\x00\x00\x00", b"\x14\x00\x00\x08"))
    with pytest.raises(NoBackup, match="not a backup of Freshet"):
        restore(there, new, other, show)


def test_a_file_that_is_not_an_archive_is_refused(new: Database, there: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copy(__file__, other)
    with pytest.raises(NoBackup, match="not a backup of Freshet"):
        restore(there, new, other, show)


def test_a_restored_copy_sends_nothing_before_somebody_resumes_its_subscriptions(
    database: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    now = CLOCK.wall()
    with database.transaction() as session:
        key, _ = keys.make(session, "office", "admin", None, now)
        wanted = NewSubscription.model_validate({"email": "office@rivers.example"})
        subscription = subscriptions.create(session, wanted, key.id, now, Settings()).id
        assert dispatch.is_any_due(session, now)  # the question to its recipient
    make(there, database, CLOCK, tmp_path / "second", show)
    restore(there, new, tmp_path / "second", show)
    with new.transaction() as session:
        assert dispatch.due(session, now) == []
        assert not dispatch.is_any_due(session, now)
        assert subscriptions.count_paused_of_service(session) == 1
        assert "restored from a backup" in str(subscriptions.get(session, subscription).paused_because)
        subscriptions.resume(session, subscription)
        assert dispatch.is_any_due(session, now)
    with closing(Database(f"sqlite:///{tmp_path / 'successor.sqlite'}")) as successor:
        restore(there, successor, tmp_path / "second", show, sends_alerts=True)
        assert everything(successor) == everything(database)


@pytest.fixture
def on_postgresql(postgresql: PostgreSQL, trained_store: Database) -> Iterator[Database]:
    """A database on PostgreSQL with the country and its version."""
    database = Database(postgresql.migrated())
    copy_rows(trained_store, database)
    yield database
    database.close()
    postgresql.clean()


def revise(database: Database) -> None:
    """Change a year of each series of a basin, and note it."""
    with database.transaction() as session:
        newest = select(SERIES.c.year).order_by(SERIES.c.year.desc()).limit(1).scalar_subquery()
        session.execute(update(SERIES).where(SERIES.c.year == newest).values(updated_at=CLOCK.wall()))
    write(database, "revised")


def in_file(file: Path, folder: Path, table: str) -> int:
    """Return the number of a table's rows that a backup itself holds."""
    with zipfile.ZipFile(file) as archive:
        rows = archive.extract(ROWS, folder)
    with closing(sqlite3.connect(rows)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def test_a_backup_after_earlier_ones_holds_what_changed_and_restores_everything(
    on_postgresql: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    whole = make(there, on_postgresql, CLOCK, first, show)
    revise(on_postgresql)
    middle = make(there, on_postgresql, CLOCK, second, show, first)
    revise(on_postgresql)
    last = make(there, on_postgresql, CLOCK, third, show, second)
    years = in_file(first, tmp_path, "series")
    assert 0 < in_file(third, tmp_path, "series") < years / 5
    assert whole.read_count == whole.row_count
    assert (middle.row_count, last.row_count) == (whole.row_count + 1, whole.row_count + 2)
    assert last.read_count is not None
    assert last.read_count < last.row_count
    assert set(last.earlier) <= {"first", "second"}
    restore(there, new, third, show)
    assert everything(new) == everything(on_postgresql)


def test_a_backup_after_an_earlier_one_is_restored_with_that_one_alone(
    on_postgresql: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    first, other, second = (tmp_path / name for name in ("first", "other", "second"))
    make(there, on_postgresql, CLOCK, first, show)
    revise(on_postgresql)
    make(there, on_postgresql, CLOCK, other, show)
    make(there, on_postgresql, CLOCK, second, show, first)
    before = first.rename(tmp_path / "moved")
    refuse(second, new, there, "follows first, which is not beside it")
    other.rename(first)
    refuse(second, new, there, "is not the backup that")
    first.write_bytes(before.read_bytes()[:-1000])
    refuse(second, new, there)
    before.rename(first)
    restore(there, new, second, show)
    assert everything(new) == everything(on_postgresql)


def test_a_backup_after_an_earlier_one_is_of_the_same_tables_on_postgresql(
    on_postgresql: Database, trained_store: Database, file: Path, there: Settings, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="always backed up as a whole"):
        make(there, trained_store, CLOCK, tmp_path / "second", show, file)
    with pytest.raises(InvalidInput, match="make a whole backup first"):
        make(there, on_postgresql, CLOCK, tmp_path / "second", show, file)
    assert [path.name for path in tmp_path.glob("second*")] == []


def test_a_backup_after_one_whose_own_rows_are_elsewhere_is_refused(
    on_postgresql: Database, there: Settings, tmp_path: Path
) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    make(there, on_postgresql, CLOCK, first, show)
    revise(on_postgresql)
    make(there, on_postgresql, CLOCK, second, show, first)
    moved = first.rename(tmp_path / "moved")
    with pytest.raises(InvalidInput, match="second follows an earlier first, and both are needed"):
        make(there, on_postgresql, CLOCK, first, show, second)
    with pytest.raises(InvalidInput, match="second follows first, which is not beside it"):
        make(there, on_postgresql, CLOCK, third, show, second)
    make(there, on_postgresql, CLOCK, first, show)
    with pytest.raises(InvalidInput, match="second follows first, which is not beside it"):
        make(there, on_postgresql, CLOCK, third, show, second)
    assert not third.exists()
    moved.replace(first)
    make(there, on_postgresql, CLOCK, third, show, second)


def test_deleted_rows_do_not_come_back_from_an_earlier_backup(
    on_postgresql: Database, new: Database, there: Settings, tmp_path: Path
) -> None:
    make(there, on_postgresql, CLOCK, tmp_path / "first", show)
    with on_postgresql.transaction() as session:
        newest = select(SERIES.c.year).order_by(SERIES.c.year.desc()).limit(1).scalar_subquery()
        assert session.execute(SERIES.delete().where(SERIES.c.year == newest).returning(SERIES.c.year)).all()
    make(there, on_postgresql, CLOCK, tmp_path / "second", show, tmp_path / "first")
    restore(there, new, tmp_path / "second", show)
    assert everything(new) == everything(on_postgresql)
