"""Refuses writes of a job that its kind does not declare, or that affect rows of other owners."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Delete, Executable, Insert, Table, TextClause, Update, select
from sqlalchemy.sql.dml import UpdateBase

from jobspec.jobs.base import Authority, Owned
from records.basins import regions
from records.basins.ownership import BASINS
from records.database.stored import narrowed
from records.feeds.feeds import FEEDS
from records.job_permissions.permissions import Grant
from records.runs.run_types import RUNS
from records.verification.comparisons import COMPARISONS
from records.versions.versions import VERSIONS
from records.weather.weather_issues import ISSUES

Values = Mapping[str, Any]

_OWNED: Mapping[Owned, tuple[str, Column[Any]]] = {
    "basin": ("basin_id", BASINS.c.registered_by),
    "version": ("version_id", VERSIONS.c.owner),
    "run": ("run_id", RUNS.c.owner),
    "weather": ("issue_id", ISSUES.c.operational),
    "comparison": ("comparison_id", COMPARISONS.c.owner),
    "feed": ("feed_id", FEEDS.c.created_by),
}
"""By kind of owner, the column that refers to the owned record, and the column of that record that names the owner."""


class UndeclaredWriteError(Exception):
    """A handler writes records that its kind does not declare: a bug in the program, not in the request."""


class Guard:
    """Checks each statement of a job's database before it is executed (`Database.guarded`)."""

    def __init__(self, grant: Grant, authority: Authority) -> None:
        self._grant, self._authority = grant, authority
        self._known: set[tuple[Owned, Any]] = set()  # records known to be the job's

    def __call__(self, connection: Connection, statement: Executable, rows: Sequence[Values]) -> None:
        """Refuse a statement that is not permitted; `rows` are one or more sets of its parameters."""
        if isinstance(statement, TextClause) and not statement.text.lstrip().upper().startswith("SELECT"):
            raise UndeclaredWriteError(
                f"A job may not write by textual SQL, which cannot be checked: {statement.text[:60]}"
            )
        if not isinstance(statement, UpdateBase):
            return
        table = statement.table
        assert isinstance(table, Table)
        owned = self._authority.owned(table.name, self._grant.role)
        if owned is None:
            raise self._refusal(table, "")
        if owned == "any":
            of_basins = table is BASINS or "basin_id" in table.c
            if not (self._grant.is_official and self._grant.region and of_basins):
                return
            owned = "basin"
        reference, owner = _OWNED[owned]
        if isinstance(statement, Insert):
            self._check_inserted(connection, statement, rows, table, owned)
        elif isinstance(statement, Update | Delete):
            column = table.c.id if table is owner.table else table.c[reference]
            query = select(column).distinct()
            if statement.whereclause is not None:
                query = query.where(statement.whereclause)
            for row in rows or ({},):
                self._check(connection, table, owned, set(connection.execute(query, dict(row)).scalars()))

    def _check_inserted(
        self, connection: Connection, statement: Insert, rows: Sequence[Values], table: Table, owned: Owned
    ) -> None:
        inserted, (reference, owner) = list(_inserted(statement, rows)), _OWNED[owned]
        if table is not owner.table:
            self._check(connection, table, owned, {row.get(reference) for row in inserted})
        elif any(row.get(owner.key, ...) != self._mark(owned) for row in inserted):
            raise self._refusal(table, f" that is not marked as its own ({owner.key})")

    def _check(self, connection: Connection, table: Table, owned: Owned, ids: set[Any]) -> None:
        new = {id_ for id_ in ids if (owned, id_) not in self._known}
        if not new:
            return
        _, owner = _OWNED[owned]
        root = owner.table
        mine = select(root.c.id).where(root.c.id.in_(new))
        if not self._grant.is_official:
            mine = mine.where(owner == self._mark(owned))
        if owned == "basin":
            mine = narrowed(mine, (regions.holding(root.c.id), self._grant.region))
        if others := new - set(connection.execute(mine).scalars()):
            raise self._refusal(table, f" of the {owned} {min(map(str, others))}, which is not its own")
        self._known |= {(owned, id_) for id_ in new}

    def _mark(self, owned: Owned) -> Any:
        return False if owned == "weather" else self._grant.key_id

    def _refusal(self, table: Table, more: str) -> UndeclaredWriteError:
        return UndeclaredWriteError(
            f"With {self._grant.role} permissions the job was about to write a row of {table.name}{more}, which its "
            "kind does not declare (jobspec.jobs.base). The row was not written."
        )


def _inserted(statement: Insert, rows: Sequence[Values]) -> Iterator[Values]:
    several: Any = statement._multi_values
    if several:
        yield from (_named(row) for of_call in several for row in of_call)
        return
    always: Any = statement._values
    yield from ({**_named(always or {}), **row} for row in rows or ({},))


def _named(values: Any) -> Values:
    return {getattr(column, "key", column): getattr(value, "value", value) for column, value in values.items()}
