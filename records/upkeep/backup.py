"""Backups: all stored data of one instant in one file, which can fill any empty database.

The file is an uncompressed zip archive of the files in `_CONTENT`: the rows as a SQLite database, the key that the
secrets of webhooks are derived from (if the data folder has it), and a manifest with the digest of both. It holds all
that the service knows: protect it like the database.

Rows are copied by code of our own because `pg_dump` and SQLite's backup restore only into a database of their own kind.
"""

import errno
import os
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter
from sqlalchemy import Select, Table, func, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.digests import file_sha256
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from records.alerts.signatures import KEY_FILE
from records.alerts.subscriptions import SUBSCRIPTIONS
from records.database.base import document
from records.database.connections import DatabaseProblem
from records.database.engine import HEAD, Database, revisions
from records.schema import Base
from records.upkeep import sqlite_schema
from runtime import stored_files
from runtime.clock import Clock
from runtime.release import code_version
from runtime.settings import Settings, sqlite_url
from runtime.stored_files import move_to_free_name

BATCH = 200  # rows: some hold megabytes


class Unreadable(DatabaseProblem):
    """The rows to be copied cannot be read."""


def copy_rows(source: Database, target: Database, show: Callable[[int, int], None] = lambda _done, _total: None) -> int:
    """Copy all rows of one instant in one transaction, and return their number.

    Both databases are at this code's revision, and the target holds no row. `show` gets the number of copied rows, and
    of all rows.
    """
    copied = 0
    with source.reading() as reading, target.transaction() as writing:
        with _error_in_words(source):
            total = sum(counts(reading).values())
        for table in Base.metadata.sorted_tables:
            for rows in _batches(source, reading, table):
                writing.execute(table.insert(), rows)
                copied += len(rows)
                show(copied, total)
            _go_on_counting(writing, table)
    return copied


def counts(session: Session) -> dict[str, int]:
    return {
        table.name: session.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def _batches(source: Database, session: Session, table: Table) -> Iterator[list[dict[str, object]]]:
    # A row that refers to another of its table has the later id.
    every: Select[tuple[object, ...]] = select(table).order_by(*inspect(table).primary_key)
    with _error_in_words(source):
        for rows in session.execute(every.execution_options(yield_per=BATCH)).mappings().partitions():
            yield [dict(row) for row in rows]


@contextmanager
def _error_in_words(source: Database) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, TypeError, ValueError) as error:
        cause = " ".join(str(getattr(error, "orig", error)).split())
        raise Unreadable(f"The rows of {source.shown} cannot be read: {cause}.") from error


def _go_on_counting(session: Session, table: Table) -> None:
    number = table.autoincrement_column
    if number is None or session.get_bind().dialect.name != "postgresql":
        return
    sequence = func.pg_get_serial_sequence(table.name, number.name)
    session.execute(select(func.setval(sequence, func.coalesce(func.max(number), 0) + 1, False)))


ROWS = "freshet.sqlite"
MANIFEST = "manifest.json"
_CONTENT = (ROWS, KEY_FILE)
_MAX_MANIFEST = 10_000  # bytes

Show = Callable[[int, int], None]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class NoBackup(DataProblem):
    """A file is not a backup, or a damaged one."""


class NotEmpty(InvalidInput):
    """The database to be filled from a backup is not empty."""


@document
class Manifest:
    """A backup's manifest."""

    created_at: datetime
    code_version: str
    row_count: int
    sha256: dict[str, Digest]


_MANIFEST = TypeAdapter(Manifest)


def make(settings: Settings, database: Database, clock: Clock, file: Path, show: Show) -> Manifest:
    """Write a backup to a new file, atomically, while others use the database."""
    if file.exists():
        raise InvalidInput(f"{file} exists already, and backups are not overwritten: name another file.")
    created_at = clock.wall()
    with _folder(file.parent) as folder:
        rows = Database(sqlite_url(folder / ROWS))
        rows.migrate()
        row_count = copy_rows(database, rows, show)
        rows.close()
        content = {ROWS: folder / ROWS}
        if settings.webhook_key is None and (settings.data / KEY_FILE).exists():
            content[KEY_FILE] = settings.data / KEY_FILE
        digests = {name: file_sha256(path) for name, path in content.items()}
        manifest = Manifest(created_at=created_at, code_version=code_version(), row_count=row_count, sha256=digests)
        draft = folder / "backup"
        with open(draft, "wb", opener=stored_files.opener) as opened:
            with zipfile.ZipFile(opened, "w") as archive:
                archive.writestr(MANIFEST, _MANIFEST.dump_json(manifest))
                for name, path in content.items():
                    archive.write(path, name)
            opened.flush()
            os.fsync(opened.fileno())
        move_to_free_name(draft, file)  # fails if somebody else has created it meanwhile
    return manifest


def restore(settings: Settings, database: Database, file: Path, show: Show, *, sends_alerts: bool = False) -> Manifest:
    """Fill an empty database from a backup, atomically.

    Unless `sends_alerts`, all subscriptions are paused, and what waits for them stays: the service that was backed up
    may still be sending. A backup of an older Freshet is migrated. After a failure the key of webhooks may be in place
    already; the same backup can be restored again.
    """
    database.migrate()
    with database.reading() as session:
        if any(counts(session).values()):
            raise NotEmpty(f"{database.shown} holds data already, and a backup fills an empty database: name another.")
    stored_files.make_folder(settings.data)
    with _folder(settings.data) as folder:
        manifest = _unpack(file, folder)
        _require_own_tables(file, folder)
        key, own_key = folder / KEY_FILE, settings.data / KEY_FILE
        if key.exists() and own_key.exists() and key.read_bytes() != own_key.read_bytes():
            raise NotEmpty(f"{own_key} differs from the backup's key of webhooks: move it away, then restore again.")
        if key.exists() and not own_key.exists():
            move_to_free_name(key, own_key)  # before the rows: a service with only the rows would create another
        rows = Database(sqlite_url(folder / ROWS))
        rows.migrate()
        try:
            if not sends_alerts:
                paused = {"paused_at": manifest.created_at, "paused_because": absent(Reason.RESTORED)}
                active = SUBSCRIPTIONS.update().where(SUBSCRIPTIONS.c.paused_at.is_(None))
                with _error_in_words(rows), rows.transaction() as session:
                    session.execute(active.values(paused))
            copy_rows(rows, database, show)
        except Unreadable as problem:
            raise NoBackup(f"{file} is not a backup of Freshet, or is damaged: use another.") from problem
        finally:
            rows.close()
    return manifest


@contextmanager
def _folder(beside: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".freshet-backup-", dir=beside) as folder:
        yield Path(folder)


def _unpack(file: Path, folder: Path) -> Manifest:
    try:
        with zipfile.ZipFile(file) as archive:
            listed = {member.filename: member for member in archive.infolist()}
            if any(member.compress_type != zipfile.ZIP_STORED for member in listed.values()):
                raise NoBackup(f"{file} is not a backup: its content is compressed.")
            if listed[MANIFEST].file_size > _MAX_MANIFEST:
                raise NoBackup(f"{file} is not a backup: its manifest is too long.")
            manifest = _MANIFEST.validate_json(archive.read(MANIFEST))
            for name, digest in manifest.sha256.items():
                if name not in _CONTENT:
                    raise NoBackup(f"{file} is not a backup: it holds an unknown file.")
                _extract(archive, name, folder / name)
                if file_sha256(folder / name) != digest:
                    raise NoBackup(f"{file} is damaged: {name} in it is not as it was written. Use another backup.")
    except OSError as error:
        if error.errno != errno.EINVAL:  # a position before the start of the file
            raise
        raise NoBackup(f"{file} is not a backup of Freshet, or is damaged: use another.") from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RuntimeError, struct.error) as error:
        raise NoBackup(f"{file} is not a backup of Freshet, or is damaged: use another.") from error
    if not (folder / ROWS).exists():
        raise NoBackup(f"{file} is not a backup: it holds no rows.")
    return manifest


def _require_own_tables(file: Path, folder: Path) -> None:
    """Require exactly the tables of its revision before any row is read."""
    try:
        with sqlite_schema.opened(folder / ROWS) as connection:
            found = sqlite_schema.objects(connection)
            revision = sqlite_schema.revision_of(connection, found, _tables_of(folder, HEAD))
            if revision not in revisions():
                return  # it is newer: the migration reports this, and nothing of it was run
            sqlite_schema.require_same(found, _tables_of(folder, revision))
            if not sqlite_schema.is_whole(connection):
                raise NoBackup(f"{file} is a damaged backup: its pages are inconsistent. Use another.")
    except sqlite_schema.ForeignSchema as problem:
        raise NoBackup(f"{file} is not a backup of Freshet: {problem}. Use another.") from problem
    except sqlite3.Error as error:
        raise NoBackup(f"{file} is not a backup of Freshet, or is damaged: use another.") from error


def _tables_of(folder: Path, revision: str) -> sqlite_schema.Objects:
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        database = Database(sqlite_url(Path(empty) / ROWS))
        database.migrate(revision)
        database.close()
        with sqlite_schema.opened(Path(empty) / ROWS) as connection:
            return sqlite_schema.objects(connection)


def _extract(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    with archive.open(name) as packed, open(path, "wb", opener=stored_files.opener) as opened:
        while chunk := packed.read(1 << 20):
            opened.write(chunk)
        opened.flush()
        os.fsync(opened.fileno())
