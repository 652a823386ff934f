"""Backups: all stored data of one instant in one file, which can fill any empty database.

The file is an uncompressed zip archive of the files in `_CONTENT`: the rows as a SQLite database, the key that the
secrets of webhooks are derived from (if the data folder has it), and a manifest with the digest of both. It holds all
that the service knows: protect it like the database.

Rows are copied by code of our own because `pg_dump` and SQLite's backup restore only into a database of their own kind.

A backup of PostgreSQL can follow an earlier one: slices of tables (`records.upkeep.slices`) that are as they
were then are not read, and the manifest names the file that holds them. To restore it, they are added to its own rows.
"""

import errno
import os
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter
from sqlalchemy import Connection, Select, Table, bindparam, func, inspect, select
from sqlalchemy.dialects import sqlite
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
from records.database.verified_slices import Mark
from records.schema import Base
from records.upkeep import slices, sqlite_schema
from runtime import stored_files
from runtime.clock import Clock
from runtime.release import code_version
from runtime.settings import Settings, sqlite_url
from runtime.stored_files import move_to_free_name

BATCH = 200  # rows: some hold megabytes
Show = Callable[[int, int], None]


class Unreadable(DatabaseProblem):
    """The rows to be copied cannot be read."""


def copy_rows(source: Database, target: Database, show: Show = lambda _done, _total: None) -> int:
    """Copy all rows of one instant in one transaction, and return their number.

    Both databases are at this code's revision, and the target holds no row. `show` gets the number of copied rows, and
    of all rows.
    """
    with source.reading() as reading, target.transaction() as writing:
        return _copy(source, reading, writing.connection(), show, {})


def _copy(
    source: Database, reading: Session, writing: Connection, show: Show, changed: Mapping[str, Collection[str]]
) -> int:
    copied = 0
    with _error_in_words(source):
        total = sum(counts(reading).values())
    for table in Base.metadata.sorted_tables:
        own = [each.name for each in table.c if any(key.references(table) for key in each.foreign_keys)]
        links: list[dict[str, object]] = []
        for rows in _batches(source, reading, table, changed.get(table.name)):
            writing.execute(table.insert(), [row | dict.fromkeys(own) for row in rows] if own else rows)
            links += [_link(table, own, row) for row in rows if any(row[name] is not None for name in own)]
            copied += len(rows)
            show(copied, total)
        _set_links(writing, table, own, links)
        _go_on_counting(writing, table)
    return copied


def _link(table: Table, own: Sequence[str], row: Mapping[str, object]) -> dict[str, object]:
    """Return what a row refers to in its own table, copied or not: a younger row may have the lower id."""
    key = {f"of_{each.name}": row[each.name] for each in inspect(table).primary_key}
    return key | {f"now_{name}": row[name] for name in own}


def _set_links(writing: Connection, table: Table, own: Sequence[str], links: Sequence[dict[str, object]]) -> None:
    if links:
        row = (each == bindparam(f"of_{each.name}") for each in inspect(table).primary_key)
        writing.execute(table.update().where(*row).values({name: bindparam(f"now_{name}") for name in own}), links)


def counts(session: Session) -> dict[str, int]:
    return {
        table.name: session.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def _batches(
    source: Database, session: Session, table: Table, changed: Collection[str] | None
) -> Iterator[list[dict[str, object]]]:
    every: Select[tuple[object, ...]] = select(table).order_by(*inspect(table).primary_key)
    parts = [every] if changed is None else [every.where(slices.rows_of(table, name)) for name in changed]
    with _error_in_words(source):
        for part in parts:
            for rows in session.execute(part.execution_options(yield_per=BATCH)).mappings().partitions():
                yield [dict(row) for row in rows]


@contextmanager
def _error_in_words(source: Database) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, TypeError, ValueError) as error:
        cause = " ".join(str(getattr(error, "orig", error)).split())
        raise Unreadable(f"The rows of {source.shown} cannot be read: {cause}.") from error


def _go_on_counting(writing: Connection, table: Table) -> None:
    number = table.autoincrement_column
    if number is None or writing.dialect.name != "postgresql":
        return
    sequence = func.pg_get_serial_sequence(table.name, number.name)
    writing.execute(select(func.setval(sequence, func.coalesce(func.max(number), 0) + 1, False)))


ROWS = "freshet.sqlite"
MANIFEST = "manifest.json"
_CONTENT = (ROWS, KEY_FILE)
_MAX_MANIFEST = 50_000_000  # bytes: some 70 a slice

FileName = Annotated[str, Field(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$")]
SliceName = Annotated[str, Field(pattern="^[0-9a-f-]{1,10}$")]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class NoBackup(DataProblem):
    """A file is not a backup, or a damaged one."""


class NotEmpty(InvalidInput):
    """The database to be filled from a backup is not empty."""


@document
class HeldSlice:
    """A slice of a table, with its mark; `file` is the earlier backup that holds its rows, None for this one."""

    rows: int
    hashes: str
    file: FileName | None = None

    @property
    def mark(self) -> Mark:
        return Mark(self.rows, self.hashes)


Slices = dict[str, dict[SliceName, HeldSlice]]


@document
class Manifest:
    """A backup's manifest.

    Attributes:
        row_count: of the database at that instant.
        read_count: of these, the rows that are in this file; None: all.
        revision: of the tables; None in backups from before there were slices.
        slices: by table and name; empty of a SQLite database.
        earlier: the digest of the rows of each earlier backup that holds some of the slices, by its file's name.
    """

    created_at: datetime
    code_version: str
    row_count: int
    sha256: dict[str, Digest]
    read_count: int | None = None
    revision: str | None = None
    slices: Slices = field(default_factory=dict)
    earlier: dict[FileName, Digest] = field(default_factory=dict)

    def of_file(self, name: str) -> dict[str, dict[str, HeldSlice]]:
        """Return the slices whose rows an earlier backup holds."""
        return {
            table: held
            for table, of_table in self.slices.items()
            if (held := {one: of for one, of in of_table.items() if of.file == name})
        }


_MANIFEST = TypeAdapter(Manifest)


def make(
    settings: Settings, database: Database, clock: Clock, file: Path, show: Show, after: Path | None = None
) -> Manifest:
    """Write a backup to a new file, atomically, while others use the database.

    With an earlier backup of the same PostgreSQL database, `after`, it reads and holds only slices that have changed
    since; the earlier one must stay beside it.
    """
    if file.exists():
        raise InvalidInput(f"{file} exists already, and backups are not overwritten: name another file.")
    earlier = None if after is None else _earlier(database, after)
    created_at = clock.wall()
    with _folder(file.parent) as folder:
        rows = Database(sqlite_url(folder / ROWS))
        rows.migrate()
        # Without references being followed: rows that others refer to may be in the earlier backup.
        with database.reading() as reading, rows.migrating() as writing:
            held = _held(reading, earlier, after)
            followed = {of.file for each in held.values() for of in each.values() if of.file}
            digests = {} if earlier is None or after is None else _digests(followed, earlier, after, file)
            changed = {table: [name for name, of in each.items() if not of.file] for table, each in held.items()}
            read_count = _copy(database, reading, writing, show, changed if earlier else {})
        rows.close()
        content = {ROWS: folder / ROWS}
        if settings.webhook_key is None and (settings.data / KEY_FILE).exists():
            content[KEY_FILE] = settings.data / KEY_FILE
        manifest = Manifest(
            created_at=created_at,
            code_version=code_version(),
            row_count=read_count + sum(of.rows for each in held.values() for of in each.values() if of.file),
            sha256={name: file_sha256(path) for name, path in content.items()},
            read_count=read_count,
            revision=revisions()[-1],
            slices=held,
            earlier=digests,
        )
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


def _earlier(database: Database, after: Path) -> Manifest:
    if database.file is not None:
        raise InvalidInput("A SQLite database is always backed up as a whole: leave out the earlier backup.")
    manifest = _read_manifest(after)
    if not manifest.slices or manifest.revision != revisions()[-1]:
        raise InvalidInput(f"{after} is of SQLite or of another revision of the tables: make a whole backup first.")
    return manifest


def _digests(followed: Collection[str], earlier: Manifest, after: Path, file: Path) -> dict[FileName, Digest]:
    """Return the digest of each backup that holds some of the slices; require them to be there as they were written."""
    known = {**earlier.earlier, after.name: earlier.sha256[ROWS]}
    for name in sorted(followed):
        beside = after.with_name(name)
        if name == file.name:
            raise InvalidInput(f"{after} follows an earlier {name}, and both are needed: give {file} another name.")
        if not beside.exists() or _read_manifest(beside).sha256.get(ROWS) != known[name]:
            raise InvalidInput(f"{after} follows {name}, which is not beside it: put it there, or make a whole backup.")
    return {name: known[name] for name in followed}


def _held(session: Session, earlier: Manifest | None, after: Path | None) -> Slices:
    held: Slices = {}
    for table in slices.COLUMNS:
        before = {} if earlier is None else earlier.slices.get(table.name, {})
        held[table.name] = {
            name: replace(before[name], file=before[name].file or after.name)
            if after is not None and name in before and before[name].mark == mark
            else HeldSlice(**mark._asdict())
            for name, mark in slices.marks(session, table).items()
        }
    return {table: of_table for table, of_table in held.items() if of_table}


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
        revision = _require_own_tables(file, folder)
        for name in manifest.earlier:
            _add_slices(file, folder, manifest, name, revision)
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


def _add_slices(file: Path, folder: Path, manifest: Manifest, name: str, revision: str) -> None:
    """Add the slices that an earlier backup holds, by its file's name, to the unpacked rows."""
    earlier = file.with_name(name)
    if not earlier.exists():
        raise NoBackup(f"{file} follows {name}, which is not beside it: put it into {earlier.parent}.")
    with _folder(folder) as beside:
        is_other = _unpack(earlier, beside).sha256[ROWS] != manifest.earlier[name]
        if is_other or _require_own_tables(earlier, beside) != revision:
            raise NoBackup(f"{earlier} is not the backup that {file} follows: put that one there.")
        with _readable(file), closing(sqlite3.connect(folder / ROWS)) as connection:
            connection.execute("ATTACH ? AS earlier", [str(beside / ROWS)])
            for table, held in manifest.of_file(name).items():
                _add_rows(connection, table, held)
            connection.commit()


def _add_rows(connection: sqlite3.Connection, name: str, held: Mapping[str, HeldSlice]) -> None:
    table = {table.name: table for table in slices.COLUMNS}[name]
    for slice_name, of in held.items():
        where = slices.rows_of(table, slice_name)
        words = where.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
        copied = f"INSERT INTO main.{name} SELECT * FROM earlier.{name} WHERE {words}"  # noqa: S608
        if connection.execute(copied).rowcount != of.rows:
            raise ValueError(f"rows of {name} are missing")


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Raise NoBackup where a file cannot be read as a backup."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EINVAL:  # a position before the start of the file
            raise
        raise NoBackup(f"{file} is not a backup of Freshet, or is damaged: use another.") from error
    except (sqlite3.Error, zipfile.BadZipFile, KeyError, ValueError, EOFError, RuntimeError, struct.error) as error:
        sentence = f"{file} is not a backup of Freshet, is damaged, or comes from a newer Freshet: use another."
        raise NoBackup(sentence) from error


def _read_manifest(file: Path) -> Manifest:
    with _readable(file), zipfile.ZipFile(file) as archive:
        return _manifest_of(file, archive)


def _manifest_of(file: Path, archive: zipfile.ZipFile) -> Manifest:
    listed = {member.filename: member for member in archive.infolist()}
    if any(member.compress_type != zipfile.ZIP_STORED for member in listed.values()):
        raise NoBackup(f"{file} is not a backup: its content is compressed.")
    if listed[MANIFEST].file_size > _MAX_MANIFEST:
        raise NoBackup(f"{file} is not a backup: its manifest is too long.")
    return _MANIFEST.validate_json(archive.read(MANIFEST))


def _unpack(file: Path, folder: Path) -> Manifest:
    with _readable(file), zipfile.ZipFile(file) as archive:
        manifest = _manifest_of(file, archive)
        for name, digest in manifest.sha256.items():
            if name not in _CONTENT:
                raise NoBackup(f"{file} is not a backup: it holds an unknown file.")
            _extract(archive, name, folder / name)
            if file_sha256(folder / name) != digest:
                raise NoBackup(f"{file} is damaged: {name} in it is not as it was written. Use another backup.")
    if not (folder / ROWS).exists():
        raise NoBackup(f"{file} is not a backup: it holds no rows.")
    return manifest


def _require_own_tables(file: Path, folder: Path) -> str:
    """Require exactly the tables of its revision before any row is read; return the revision."""
    try:
        with sqlite_schema.opened(folder / ROWS) as connection:
            found = sqlite_schema.objects(connection)
            revision = sqlite_schema.revision_of(connection, found, _tables_of(folder, HEAD))
            if revision not in revisions():
                raise NoBackup(f"{file} comes from a newer Freshet (revision {revision}): install that one first.")
            sqlite_schema.require_same(found, _tables_of(folder, revision))
            if not sqlite_schema.is_whole(connection):
                raise NoBackup(f"{file} is a damaged backup: its pages are inconsistent. Use another.")
            return revision
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
