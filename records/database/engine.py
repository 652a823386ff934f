"""The database: SQLite by default, PostgreSQL by URL. Transactions and migration."""

import fcntl
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Executable, create_engine, event, inspect, text
from sqlalchemy.orm import Session, sessionmaker

import migrations
from hydrology.base.errors import InvalidInput, printable
from records.database import visibility
from records.database.connections import (
    FAULTS,
    DatabaseProblem,
    begin_sqlite,
    connect_postgresql,
    open_sqlite,
    parsed_url,
)
from runtime import stored_files
from runtime.settings import Settings

Parameters = Mapping[str, Any]
Check = Callable[[Connection, Executable, Sequence[Parameters]], None]

HEAD = "head"  # this code's revision
_MIGRATION_LOCK = 0x667265736865  # any fixed number: PostgreSQL's advisory locks are named by numbers
_READ_REVISION = "SELECT version_num FROM alembic_version"
POOL_SECONDS = 2
"""Seconds that a thread waits for one of a limited number of connections."""
MAX_PAUSE_SECONDS = 60
"""Maximum pause of a writer inside a transaction. PostgreSQL then closes its connection, so that a process that was
stopped there does not hold its locks for ever."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The result of `Database.check`.

    `database` is the URL without its password; `revision` is None before the first migration, `head` what this code
    works with. `problem` states the remedy too; None if the database can be used.
    """

    database: str
    reachable: bool
    revision: str | None
    head: str
    problem: str | None


class Database:
    """A database and its sessions. Create one per process, never before a fork, and close it."""

    def __init__(
        self,
        url: str,
        sender: str | None = None,
        *,
        replayed: bool = False,
        approval: timedelta | None = None,
        connections: int | None = None,
    ) -> None:
        """Set the database's URL; nothing is opened yet.

        Changes of alerts are stored with `sender`, the official one, and with `replayed`, whether the service replays
        the past; they wait for a person's approval for `approval` (None: they do not). `connections` None: as many as
        the library allows.
        """
        parsed = parsed_url(url)
        self.url = url
        self.shown = parsed.render_as_string(hide_password=True)
        self.file = Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None
        bounds: dict[str, Any] = {}
        if connections is not None:
            bounds = {"pool_size": connections, "max_overflow": 0, "pool_timeout": POOL_SECONDS}
        try:
            self._engine = create_engine(parsed, pool_pre_ping=self.file is None, hide_parameters=True, **bounds)
        except ModuleNotFoundError as error:
            raise DatabaseProblem("PostgreSQL needs its driver: pip install 'psycopg[binary]'.") from error
        if self.file:
            event.listen(self._engine, "connect", open_sqlite)
            event.listen(self._engine, "begin", begin_sqlite)
            self._read_engine = self._engine.execution_options(freshet_reads=True)
        else:
            event.listen(self._engine, "do_connect", connect_postgresql)
            options: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            self._read_engine = self._engine.execution_options(**options)
        issuer = {"sender": sender, "replayed": replayed, "approval": approval}
        self._writes = sessionmaker(self._engine, expire_on_commit=False, info=issuer)
        self._reads = sessionmaker(self._read_engine, expire_on_commit=False)
        for sessions in (self._writes, self._reads):
            event.listen(sessions, "after_begin", self._require_watched)
        event.listen(self._engine, "before_cursor_execute", visibility.restrict, retval=True)
        self._is_public = False
        self._watched: str | None = None  # the revision that every transaction has to find
        self._unchanging: sqlite3.Connection | None = None  # never writes, so that it sees each commit of another

    @classmethod
    def of(cls, settings: Settings, connections: int | None = None) -> Self:
        minutes = settings.alerts_need_approval
        return cls(
            settings.database_url,
            settings.cap_sender,
            replayed=settings.as_of is not None,
            approval=None if minutes is None else timedelta(minutes=minutes),
            connections=connections,
        )

    def for_public(self) -> Self:
        """Return the database as the public sees it (`visibility`): its transactions read nothing else."""
        seen = copy(self)
        seen._is_public = True
        return seen

    @property
    def missing(self) -> str | None:
        """The message for a missing database file. None if it exists or a server stores the data."""
        if self.file is None or self.file.exists():
            return None
        return (
            f"There is no database at {self.file}: FRESHET_DATA or FRESHET_DATABASE_URL may be mistyped. "
            "`freshet ingest` creates a new one."
        )

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Open a writing transaction: committed at the end, rolled back by an exception.

        SQLite has one writer at a time: hold no transaction across computing. The first statement raises
        DatabaseProblem where the tables are watched and at another revision.
        """
        with self._writes(info={"public": self._is_public}) as session, session.begin():
            if not self.file:
                limit = f"SET LOCAL idle_in_transaction_session_timeout = '{MAX_PAUSE_SECONDS}s'"
                session.connection().exec_driver_sql(limit)
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a read-only transaction of one instant, that of its first query, that waits for no writer.

        The first query takes the connection, and raises DatabaseProblem where the tables are watched and at another
        revision.
        """
        with self._reads(info={"public": self._is_public}) as session, session.begin():
            yield session

    def content_stamp(self, session: Session) -> object:
        """Return what is equal at two times only if nothing was committed between them, and nothing is read before."""
        if not self.file:
            return session.execute(text("SELECT CAST(pg_current_snapshot() AS text)")).scalar_one()
        if self._unchanging is None:
            file = f"{self.file.absolute().as_uri()}?mode=rw"
            self._unchanging = sqlite3.connect(file, uri=True, check_same_thread=False, isolation_level=None)
        return self._unchanging, *self._unchanging.execute("PRAGMA data_version").fetchone()

    @contextmanager
    def guarded(self, check: Check) -> Iterator[None]:
        """Check each statement of this process before it is executed, inside the block.

        `check` gets the connection, the statement and its sets of parameters, and raises where it refuses them.
        """

        def before(
            connection: Connection, statement: Executable, many: Sequence[Parameters], one: Parameters, _options: object
        ) -> None:
            check(connection, statement, many or [one])

        event.listen(self._engine, "before_execute", before)
        try:
            yield
        finally:
            event.remove(self._engine, "before_execute", before)

    def close(self) -> None:
        self._engine.dispose()
        if self._unchanging is not None:
            self._unchanging.close()

    def migrate(self, target: str = HEAD) -> None:
        """Migrate the tables to a revision, by default this code's.

        An older Freshet needs an older revision. Processes that migrate at the same time wait for each other.
        """
        if self.file:
            stored_files.make_folder(self.file.parent)
        try:
            with self.migrating() as connection:
                revision = _revision(connection)
                self._refuse_newer(revision)
                wanted = _named(target)
                if revision != wanted:
                    migrations.move(connection, revision, wanted)
                    if self.file and (lost := connection.exec_driver_sql("PRAGMA foreign_key_check").first()):
                        raise sqlite3.IntegrityError(
                            f"a row of {lost[0]} refers to a row of {lost[2]} that is not there"
                        )
        except FAULTS as error:
            raise DatabaseProblem(self._unreachable(error)) from error

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a transaction that may change the tables. One process at a time gets it.

        SQLite changes a table by rebuilding it: meanwhile deletions do not cascade from its rows.
        """
        migrates = self._engine.execution_options(freshet_migrates=True)
        with self._migration_lock(), migrates.begin() as connection:
            if not self.file:
                # Until the end of this transaction.
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            yield connection

    def check(self) -> Condition:
        """Check whether the database can be used, without changing it."""
        head, revision = revisions()[-1], None
        try:
            if missing := self.missing:
                return Condition(self.shown, False, None, head, missing)
            with self._read_engine.connect() as connection:
                revision = _revision(connection)
            self._refuse_newer(revision)
        except FAULTS as error:
            return Condition(self.shown, False, None, head, self._unreachable(error))
        except DatabaseProblem as problem:
            return Condition(self.shown, True, revision, head, str(problem))
        fault = None
        if revision != head:
            fault = (
                f"The tables of {self.shown} are at revision {revision or 'none'}, and this code needs {head}: end the "
                "service that works on them, then run `freshet migrate`."
            )
        return Condition(self.shown, True, revision, head, fault)

    def watch(self) -> None:
        """Refuse transactions once another Freshet has changed the tables' revision."""
        self._watched = revisions()[-1]

    def require_migrated(self) -> None:
        """Require a usable database, or raise DatabaseProblem; watch its revision."""
        if problem := self.check().problem:
            raise DatabaseProblem(problem)
        self.watch()

    def _require_watched(self, session: Session, _transaction: object, connection: Connection) -> None:
        revision = self._watched and connection.exec_driver_sql(_READ_REVISION).scalar()
        if revision != self._watched:
            raise DatabaseProblem(
                f"The tables were brought to revision {revision} while this process, which works with {self._watched}, "
                "was running: nothing more is read or written. Stop it, and start the Freshet that matches the tables."
            )
        if session.info["public"]:
            visibility.hide(connection)

    @contextmanager
    def _migration_lock(self) -> Iterator[None]:
        if not self.file:
            yield
            return
        with open(self.file.with_name(self.file.name + ".lock"), "w", opener=stored_files.opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            stored_files.make_file(self.file)  # SQLite gives its additional files the same permissions
            # The file remembers its journal mode, and only outside a transaction can it change.
            with closing(self._engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA journal_mode = WAL")
            yield

    def _refuse_newer(self, revision: str | None) -> None:
        if revision is not None and revision not in revisions():
            raise DatabaseProblem(
                f"The tables of {self.shown} are at revision {revision}, which this code does not know: they are "
                "newer. Install the newer Freshet, or restore the backup from before it."
            )

    def _unreachable(self, error: Exception) -> str:
        cause = printable(" ".join(str(getattr(error, "orig", error)).split()))
        return f"The database {self.shown} cannot be used: {cause}."


def revisions() -> tuple[str, ...]:
    return migrations.revisions(migrations.VERSIONS)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql(_READ_REVISION).scalar()
    return revision


def _named(revision: str) -> str:
    names = revisions()
    if revision == HEAD:
        return names[-1]
    if revision not in names:
        raise InvalidInput(f"There is no revision {revision!r} of the tables: name one of {names[0]} to {names[-1]}.")
    return revision
