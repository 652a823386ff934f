"""a checksum for each row of series, revisions, states, error models and simulated water."""

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_BATCH = 500

# What names a row, and its contents.
_TABLES = {
    "series": (("basin_id", "product", "variable", "year", "unit"), ("value_bytes", "flag_bytes")),
    "series_revisions": (
        ("basin_id", "product", "variable", "year", "revision"),
        ("offset_bytes", "value_bytes", "flag_bytes"),
    ),
    "states": (("version_id", "basin_id", "day"), ("content", "sums", "recent_flow")),
    "error_models": (("version_id", "weather"), ("content", "regional")),
    "simulated_water": (("version_id", "basin_id", "variable"), ("content",)),
}
_NOT_OF_THE_KEY = {"unit"}


def upgrade() -> None:
    for name, (names, contents) in _TABLES.items():
        op.add_column(name, sa.Column("checksum", sa.BigInteger(), server_default="0", nullable=False))
        _fill(name, names, contents)


def downgrade() -> None:
    for name in _TABLES:
        op.drop_column(name, "checksum")


def _fill(name: str, names: tuple[str, ...], contents: tuple[str, ...]) -> None:
    connection, table = op.get_bind(), _table(name, names, contents)
    key = [column for column in names if column not in _NOT_OF_THE_KEY]
    update = table.update().where(*(table.c[column] == sa.bindparam(f"key_{column}") for column in key))
    for rows in _batches(connection, table, key):
        sums = [
            {f"key_{column}": getattr(row, column) for column in key} | {"checksum": _checksum(row, names, contents)}
            for row in rows
        ]
        connection.execute(update, sums)


def _table(name: str, names: tuple[str, ...], contents: tuple[str, ...]) -> sa.TableClause:
    kinds: dict[str, Any] = {"year": sa.Integer(), "revision": sa.Integer(), "day": sa.Date()}
    columns = [sa.column(column, kinds.get(column, sa.String())) for column in names]
    blobs = [sa.column(column, sa.LargeBinary()) for column in contents]
    return sa.table(name, *columns, *blobs, sa.column("checksum", sa.BigInteger()))


def _batches(connection: sa.Connection, table: sa.TableClause, key: list[str]) -> Iterator[list[Any]]:
    columns = [table.c[column] for column in key]
    query = sa.select(table).order_by(*columns).limit(_BATCH)
    rows = list(connection.execute(query))
    while rows:
        yield rows
        last = [getattr(rows[-1], column) for column in key]
        bound = [sa.literal(value, column.type) for value, column in zip(last, columns, strict=True)]
        rows = list(connection.execute(query.where(sa.tuple_(*columns) > sa.tuple_(*bound))))


def _checksum(row: Any, names: tuple[str, ...], contents: tuple[str, ...]) -> int:
    at = crc32("\0".join(str(getattr(row, column)) for column in names).encode())
    for content in (getattr(row, column) for column in contents):
        if content is not None:
            at = crc32(content, at)
    return at
