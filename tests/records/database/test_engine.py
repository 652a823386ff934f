"""Transactions are whole, migrations wait for each other, and an unusable database is reported."""

import fcntl
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from hydrology.base.errors import InvalidInput
from records.basins import basins
from records.basins.ownership import AREAS, Basin
from records.database import engine
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from testing.databases import PostgreSQL
from testing.records import a_basin
from workers.job_processes.process_limits import hindrance


def test_an_exception_rolls_the_transaction_back(database: Database) -> None:
    def fail() -> None:
        with database.transaction() as session:
            a_basin(session)
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    with database.reading() as session:
        assert basins.list_basins(session) == []


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DBAPIError, match=r"(?i)read-?only"), database.reading() as session:
        a_basin(session)
    with database.transaction() as session:
        a_basin(session)


def test_a_reader_sees_one_instant_and_does_not_wait_for_a_writer(database: Database) -> None:
    with database.reading() as reader:
        assert basins.list_basins(reader) == []
        with database.transaction() as writer:
            a_basin(writer)
            writer.flush()
            assert basins.list_basins(reader) == []
        assert basins.list_basins(reader) == []
    with database.reading() as reader:
        assert len(basins.list_basins(reader)) == 1


def test_the_stamp_of_the_content_changes_with_each_commit(database: Database) -> None:
    def stamp() -> object:
        with database.reading() as session:
            return database.content_stamp(session)

    first = stamp()
    assert stamp() == first
    with database.transaction() as session:
        a_basin(session)
        session.flush()
        assert stamp() == first or database.file is None  # PostgreSQL's has the transactions under way, too
    second = stamp()
    assert second != first
    assert stamp() == second
    with database.transaction() as session:  # by the connection that has written before
        a_basin(session, "SYNTH-01")
    assert stamp() not in (first, second)


def test_a_writer_that_is_stopped_gives_its_locks_back(postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_PAUSE_SECONDS", 1)
    database = Database(postgresql.migrated())
    with database.transaction() as session:
        a_basin(session)
    rename = "UPDATE basins SET name = '{}'"

    def pause() -> None:
        with database.transaction() as stopped:
            stopped.execute(text(rename.format("stopped")))
            with database.transaction() as other:
                other.execute(text("SET LOCAL lock_timeout = '30s'"))
                other.execute(text(rename.format("other")))  # waits for the lock
            stopped.execute(text(rename.format("late")))

    try:
        with pytest.raises(DBAPIError) as refusal:
            pause()
        assert hindrance(refusal.value) is not None  # a job is tried again
        with database.reading() as session:
            assert [basin.name for basin in basins.list_basins(session)] == ["other"]
    finally:
        database.close()
        postgresql.clean()


def test_an_error_of_a_statement_does_not_quote_its_values(database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("CREATE TEMPORARY TABLE receivers (url TEXT PRIMARY KEY, secret TEXT NOT NULL)"))
    with pytest.raises(IntegrityError) as failed, database.transaction() as session:
        session.execute(
            text("INSERT INTO receivers (url, secret) VALUES (:url, :secret)"),
            [{"url": url, "secret": "s3cret"} for url in ("https://a.example/token", "https://a.example/token")],
        )
    assert "INSERT INTO receivers" in str(failed.value)
    assert "s3cret" not in str(failed.value)


def test_foreign_keys_hold(database: Database) -> None:
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.execute(AREAS.insert().values(basin_id="USGS-99999999", name="maurer", value=1.0))


def test_sqlite_is_opened_as_decided(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/new/freshet.sqlite")
    database.migrate()
    with database.reading() as session:
        pragmas = {
            name: session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        }
    database.close()
    assert pragmas == {"journal_mode": "wal", "busy_timeout": 5000, "foreign_keys": 1, "synchronous": 1}


@pytest.mark.extended
def test_processes_that_migrate_at_once_all_succeed(empty_url: str) -> None:
    script = "import sys; from records.database.engine import Database; Database(sys.argv[1]).migrate()"
    processes = [
        subprocess.Popen([sys.executable, "-c", script, empty_url], stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    complaints = [process.communicate(timeout=60)[1] for process in processes]
    assert [(process.returncode, output) for process, output in zip(processes, complaints, strict=True)] == [
        (0, "")
    ] * 4
    database = Database(empty_url)
    database.require_migrated()
    database.close()


def test_a_migration_of_a_file_waits_for_the_one_under_way(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/freshet.sqlite")
    with ThreadPoolExecutor() as others:
        with (tmp_path / "freshet.sqlite.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = others.submit(database.migrate)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=1)
        waiting.result(timeout=30)
    database.require_migrated()
    database.close()


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
    before = database.check()
    database.migrate()
    assert database.check() == before
    with database.reading() as session:
        assert len(basins.list_basins(session)) == 1


def test_a_database_without_tables_is_not_used(empty_url: str) -> None:
    database = Database(empty_url)
    condition = database.check()
    assert condition.revision is None
    assert condition.head
    with pytest.raises(DatabaseProblem, match=r"freshet migrate|creates a new one"):
        database.require_migrated()
    database.close()


def test_reading_a_missing_sqlite_file_does_not_create_it(tmp_path: Path) -> None:
    file = tmp_path / "freshet.sqlite"
    assert not Database(f"sqlite:///{file}").check().reachable
    assert not file.exists()


def test_a_newer_database_is_not_touched(database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseProblem, match="9999, which this code does not know: they are newer"):
        database.migrate()
    with pytest.raises(DatabaseProblem, match="9999"):
        database.require_migrated()
    assert database.check().reachable


def test_an_unreachable_database_is_reported_without_its_password(postgresql: PostgreSQL) -> None:
    database = Database(f"postgresql://me:secret@/nothing?host={postgresql.socket}")
    condition = database.check()
    database.close()
    assert not condition.reachable
    assert condition.problem
    assert "does not exist" in condition.problem
    assert "secret" not in str(condition)


def test_a_file_that_is_not_a_database_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "freshet.sqlite"
    file.write_text("a letter, not a database. " * 100)
    database = Database(f"sqlite:///{file}")
    for use in (database.require_migrated, database.migrate):
        with pytest.raises(DatabaseProblem, match="file is not a database"):
            use()
    database.close()
    assert file.read_text().startswith("a letter")


def test_the_content_of_a_damaged_file_is_reported_without_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE basins (id \x15)' WHERE name = 'basins'")
        connection.commit()
    with pytest.raises(DatabaseProblem, match=r'malformed database schema \(basins\) - unrecognized token: "\?"'):
        database.migrate()
    database.close()


def test_a_missing_postgresql_driver_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseProblem, match="pip install"):
        Database("postgresql://host/name")


@pytest.mark.parametrize(
    "url", ["", "freshet.sqlite", "sqlite://", "sqlite:///:memory:", "mysql://host/x", "nonsense://x"]
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="SQLite file"):
        Database(url)


def test_a_database_that_cannot_store_any_text_is_refused_in_a_sentence(postgresql: PostgreSQL) -> None:
    for encoding in ("SQL_ASCII", "LATIN1", "WIN1252"):
        name = f"odd_{encoding.lower()}"
        postgresql.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        with closing(Database(f"postgresql://postgres@/{name}?host={postgresql.socket}")) as odd:
            found = odd.check()
            assert (found.reachable, found.revision) == (True, None)
            assert f"{name} has the encoding {encoding}" in str(found.problem)
            for use in (odd.migrate, odd.require_migrated):
                with pytest.raises(DatabaseProblem, match="ENCODING 'UTF8'"):
                    use()
            with pytest.raises(DatabaseProblem, match="ENCODING 'UTF8'"), odd.transaction() as session:
                a_basin(session)


def test_any_text_is_stored_whatever_the_clients_encoding(
    postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    url = postgresql.new()
    for given in (url, f"{url}&client_encoding=latin1"):
        with closing(Database(given)) as database:
            database.migrate()
            with database.transaction() as session:
                basins.upsert(session, Basin("OWN-river", name="Łódź 河川"))
            with database.reading() as session:
                assert basins.get(session, "OWN-river").name == "Łódź 河川"
