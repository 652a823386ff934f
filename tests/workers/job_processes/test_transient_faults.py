"""A full disk and a database that is away cost a job no attempt: it goes on when they are over."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from hydrology.base.calendar import day
from hydrology.base.errors import DataProblem
from jobspec.training import TrainingConfig
from records.basins import basins
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from records.jobs import jobs
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.databases import PostgreSQL
from testing.jobs.processes import Shop
from testing.synthetic import archive as synthetic
from testing.training import train
from testing.work import work_of
from tests.disks import disk, filled
from tests.workers.conftest import harmful_worker, opened_empty, opened_with, training
from workers.job_processes.process_limits import hindrance


@pytest.mark.extended
def test_a_job_waits_for_room_however_long_that_takes(empty_shop: Shop) -> None:
    harmful_worker(empty_shop)
    job = empty_shop.post("harm", harm="find_no_room")
    tried = empty_shop.until(job.id, lambda found: found.attempt > job.max_attempts)
    assert tried.problem is None
    (empty_shop.settings.data / "room").touch()
    done = empty_shop.ended(job.id)
    assert done.status == "succeeded"
    with empty_shop.database.reading() as session:
        output = {event.data["text"] for event in jobs.events_after(session, job.id, 0) if event.type == "log"}
    assert output == {"The disk is full: the job is tried again until there is room."}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own."""
    with disk(tmp_path / "disk", "128m") as folder:
        yield folder


@pytest.fixture
def small_shop(small_disk: Path, tmp_path: Path) -> Iterator[Shop]:
    """A shop on that disk, but for its log."""
    (small_disk / "parts.log").symlink_to(tmp_path / "parts.log")
    yield from opened_empty(small_disk)


@pytest.fixture
def small_trained_shop(small_disk: Path, trained_file: Path, tmp_path: Path) -> Iterator[Shop]:
    """A shop on that disk with the country and its version."""
    (small_disk / "parts.log").symlink_to(tmp_path / "parts.log")
    yield from opened_with(trained_file, small_disk)


@pytest.mark.extended
def test_an_ingestion_waits_for_room_and_stores_everything(small_shop: Shop) -> None:
    shop, files = small_shop, small_shop.settings.data / "incoming"
    synthetic.write(files, basins=16, first_day=day("1980-10-01"), last_day=day("2005-09-30"), seed=5)
    with filled(shop.settings.data, room=2**20):  # so that the worker can start, and the job be posted
        shop.worker()
        job = shop.post("ingest", None, **{"from": [str(files)]})
        shop.until(job.id, lambda found: "worker.database" in _log(shop) or found.max_attempts > job.max_attempts)
    done = shop.ended(job.id)
    assert (done.status, done.max_attempts - done.attempt) == ("succeeded", job.max_attempts - 1)
    with shop.database.reading() as session:
        assert len(basins.list_basins(session)) == 16


@pytest.mark.extended
def test_a_training_waits_for_room_and_comes_to_the_same_weights(
    small_trained_shop: Shop, trained_file: Path, tmp_path: Path
) -> None:
    shop, params = small_trained_shop, training(members=1)
    shop.worker()
    job = shop.post("training", **params)
    shop.until(job.id, lambda found: bool(found.progress and found.progress["done"] >= 30))
    with filled(shop.settings.data):
        shop.until(job.id, lambda _: "worker.database" in _log(shop))
    done = shop.ended(job.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    whole = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'whole.sqlite')}")
    uninterrupted = train(work_of(whole, CLOCK), TrainingConfig.model_validate(params["config"]), BASINS)
    with whole.reading() as session, shop.database.reading() as other:
        expected = versions.get(session, uninterrupted.version_id)
        assert versions.get(other, done.result["version"]).weights_hash == expected.weights_hash
    whole.close()


def _log(shop: Shop) -> str:
    return (shop.settings.data / "parts.log").read_text()


def test_a_full_disk_is_recognised_from_sqlite(migrated_sqlite: Path, tmp_path: Path) -> None:
    file = tmp_path / "full.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    database = Database(f"sqlite:///{file}")

    def fill() -> None:
        with database.transaction() as session:
            connection = session.connection()
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
            connection.exec_driver_sql("CREATE TABLE large (bytes BLOB)")
            connection.exec_driver_sql("INSERT INTO large VALUES (zeroblob(10000000))")

    with pytest.raises(OperationalError) as caught:
        fill()
    database.close()
    assert "disk is full" in str(hindrance(caught.value))


def test_an_error_caused_by_a_full_disk_is_recognised() -> None:
    def fill() -> None:
        try:
            Path("/dev/full").write_bytes(b"x")
        except OSError as error:
            raise DataProblem("It cannot be stored.") from error

    with pytest.raises(DataProblem) as caught:
        fill()
    assert "disk is full" in str(hindrance(caught.value))


def test_a_locked_database_is_transient_and_a_wrong_statement_is_not(migrated_sqlite: Path, tmp_path: Path) -> None:
    file = shutil.copy(migrated_sqlite, tmp_path / "locked.sqlite")
    database = Database(f"sqlite:///{file}")

    def write() -> None:
        with database.transaction() as session:
            session.execute(text("SELECT 1"))

    def mistake() -> None:
        with database.reading() as session:
            session.execute(text("SELECT * FROM nothing"))

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OperationalError) as locked:
            write()
    with pytest.raises(OperationalError) as wrong:
        mistake()
    database.close()
    assert "database cannot be used" in str(hindrance(locked.value))
    assert hindrance(wrong.value) is None


def test_tables_of_another_revision_are_transient(migrated_sqlite: Path, tmp_path: Path) -> None:
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'stepped.sqlite')}")
    database.require_migrated()
    with database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseProblem) as stepped, database.reading() as session:
        session.execute(text("SELECT 1"))
    database.close()
    assert "database cannot be used" in str(hindrance(stepped.value))


def test_an_unreachable_server_is_transient(postgresql: PostgreSQL) -> None:
    away = Database("postgresql://postgres@/none?host=/nowhere")
    wrong = Database(postgresql.migrated())

    def run(database: Database, statement: str) -> None:
        with database.reading() as session:
            session.execute(text(statement))

    with pytest.raises(OperationalError) as refused:
        run(away, "SELECT 1")
    with pytest.raises(DBAPIError) as mistaken:
        run(wrong, "SELECT * FROM nothing")
    for database in (away, wrong):
        database.close()
    assert "database cannot be used" in str(hindrance(refused.value))
    assert hindrance(mistaken.value) is None


@pytest.mark.parametrize("error", [ValueError("no room"), FileNotFoundError(2, "gone"), sqlite3.OperationalError("?")])
def test_other_errors_are_not_transient(error: Exception) -> None:
    assert hindrance(error) is None
