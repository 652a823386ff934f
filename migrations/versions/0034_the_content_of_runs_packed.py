"""what a run says of a basin in numbers in one packed blob, its summary packed, its closure beside its status."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import sqlalchemy as sa
import structlog
from alembic import op

from records.database.array_codec import pack_text, unpack_text
from records.database.named_arrays import whole
from records.runs.lifetime_balance import SinceEmpty
from records.runs.run_arrays import Ledger, RunSeries, owner_of, packed, unpacked

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

log = structlog.get_logger()

SECONDS_BETWEEN_LINES = 10.0
CELLS = "cells_at_t0"


def _of_basin(name: str, *columns: sa.ColumnClause[Any]) -> sa.TableClause:
    return sa.table(name, sa.column("run_id", sa.String), sa.column("basin_id", sa.String), *columns)


RUNS = sa.table("runs", sa.column("id"), sa.column("version_id"), sa.column("t0", sa.Date))
BASINS = _of_basin(
    "run_basins",
    sa.column("state_hash"),
    sa.column("summary", sa.JSON),
    sa.column("summary_packed", sa.LargeBinary),
    sa.column("residual_mm", sa.Double),
    sa.column("tolerance_mm", sa.Double),
    sa.column("closes", sa.Boolean),
)
PACKED_BASINS = _of_basin(
    "run_basins", sa.column("summary", sa.LargeBinary), sa.column("summary_json", sa.JSON(none_as_null=True))
)
CONTENTS = _of_basin("run_contents", sa.column("content", sa.LargeBinary))
SERIES = _of_basin(
    "run_series",
    sa.column("variable"),
    sa.column("unit"),
    sa.column("axes", sa.JSON),
    sa.column("dtype"),
    sa.column("content", sa.LargeBinary),
)
CLOSURES = _of_basin(
    "run_closures",
    sa.column("member"),
    sa.column("residual_mm", sa.Double),
    sa.column("tolerance_mm", sa.Double),
    sa.column("closes", sa.Boolean),
    sa.column("since_empty", sa.JSON(none_as_null=True)),
    sa.column("trace"),
)
LEDGER = _of_basin("run_ledger", sa.column("member"), sa.column("term"), sa.column("amount_mm", sa.Double))
STATES = sa.table(
    "states",
    sa.column("version_id"),
    sa.column("basin_id"),
    sa.column("day", sa.Date),
    sa.column("content", sa.LargeBinary),
    sa.column("member_hashes", sa.JSON),
    sa.column("sha256"),
)


def upgrade() -> None:
    op.create_table(
        "run_contents",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_run_contents_run_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", name=op.f("pk_run_contents")),
    )
    with op.batch_alter_table("run_basins") as batch:
        batch.add_column(sa.Column("residual_mm", sa.Double(), nullable=True))
        batch.add_column(sa.Column("tolerance_mm", sa.Double(), nullable=True))
        batch.add_column(sa.Column("closes", sa.Boolean(), nullable=True))
        batch.add_column(sa.Column("summary_packed", sa.LargeBinary(), nullable=True))
    for run in _runs("Packing"):
        _pack(run)
    for table in ("run_ledger", "run_closures", "run_series"):
        op.drop_table(table)
    with op.batch_alter_table("run_basins") as batch:
        batch.drop_column("summary")
        batch.alter_column("summary_packed", new_column_name="summary", nullable=False)
        batch.create_check_constraint(op.f("ck_run_basins_closes"), "closes = (abs(residual_mm) <= tolerance_mm)")
        batch.create_check_constraint(op.f("ck_run_basins_open"), "status <> 'issued' OR closes")


def downgrade() -> None:
    _make_old_tables()
    with op.batch_alter_table("run_basins") as batch:
        batch.drop_constraint(op.f("ck_run_basins_closes"), type_="check")
        batch.drop_constraint(op.f("ck_run_basins_open"), type_="check")
        for name in ("residual_mm", "tolerance_mm", "closes"):
            batch.drop_column(name)
        batch.add_column(sa.Column("summary_json", sa.JSON(none_as_null=True), nullable=True))
    for run in _runs("Unpacking"):
        _unpack(run)
    op.drop_table("run_contents")
    with op.batch_alter_table("run_basins") as batch:
        batch.drop_column("summary")
        batch.alter_column("summary_json", new_column_name="summary", nullable=False)


def _make_old_tables() -> None:
    of_basin = (["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"])
    of_member = (
        ["run_id", "basin_id", "member"],
        ["run_closures.run_id", "run_closures.basin_id", "run_closures.member"],
    )

    def key() -> list[sa.Column[str]]:
        return [sa.Column(name, sa.String(), nullable=False) for name in ("run_id", "basin_id")]

    op.create_table(
        "run_closures",
        *key(),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("residual_mm", sa.Double(), nullable=False),
        sa.Column("tolerance_mm", sa.Double(), nullable=False),
        sa.Column("closes", sa.Boolean(), nullable=False),
        sa.Column("since_empty", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("trace", sa.String(), nullable=True),
        sa.CheckConstraint("closes = (abs(residual_mm) <= tolerance_mm)", name=op.f("ck_run_closures_closes")),
        sa.ForeignKeyConstraint(*of_basin, name=op.f("fk_run_closures_run_id_basin_id")),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "member", name=op.f("pk_run_closures")),
    )
    op.create_table(
        "run_series",
        *key(),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("axes", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("dtype", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(*of_basin, name=op.f("fk_run_series_run_id_basin_id")),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "variable", name=op.f("pk_run_series")),
    )
    op.create_table(
        "run_ledger",
        *key(),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("amount_mm", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(*of_member, name=op.f("fk_run_ledger_run_id_basin_id_member")),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "member", "term", name=op.f("pk_run_ledger")),
    )


def _runs(what: str) -> Iterator[Any]:
    """Yield every run, and tell now and then how many are done."""
    runs = op.get_bind().execute(sa.select(RUNS).order_by(RUNS.c.id)).all()
    told = monotonic()
    for done, run in enumerate(runs):
        if monotonic() - told > SECONDS_BETWEEN_LINES:
            told = monotonic()
            log.warning("migration.runs", what=what, done=done, total=len(runs))
        yield run


def _of_run(table: sa.TableClause, run: str, *order: str) -> dict[str, list[Any]]:
    """Return the rows of a run by their basin."""
    query = sa.select(table).where(table.c.run_id == run).order_by(*(table.c[name] for name in order))
    by_basin: dict[str, list[Any]] = defaultdict(list)
    for row in op.get_bind().execute(query):
        by_basin[row.basin_id].append(row)
    return by_basin


def _states(run: Any) -> dict[str, Any]:
    of_t0 = sa.select(STATES).where(STATES.c.version_id == run.version_id, STATES.c.day == run.t0)
    return {row.basin_id: row for row in op.get_bind().execute(of_t0)}


def _pack(run: Any) -> None:
    connection = op.get_bind()
    series, closures = _of_run(SERIES, run.id, "variable"), _of_run(CLOSURES, run.id, "member")
    terms, states = _of_run(LEDGER, run.id, "term"), _states(run)
    contents, closed = [], []
    basins = sa.select(BASINS.c.basin_id, BASINS.c.state_hash, BASINS.c.summary).where(BASINS.c.run_id == run.id)
    for basin, state_hash, summary in connection.execute(basins).all():
        ledgers = _ledgers(closures[basin], terms[basin])
        worst = max(ledgers, key=lambda ledger: abs(ledger.residual_mm) - ledger.tolerance_mm, default=None)
        closed.append(
            {
                "of_basin": basin,
                "summary_packed": pack_text(summary),
                "residual_mm": None if worst is None else worst.residual_mm,
                "tolerance_mm": None if worst is None else worst.tolerance_mm,
                "closes": None if worst is None else worst.closes,
            }
        )
        arrays = [_series(row) for row in series[basin]]
        if basin in states and states[basin].sha256 == state_hash:
            arrays = [_left_to(states[basin], array) for array in arrays]
        if arrays or ledgers:
            content = packed(owner_of(run.id, basin), arrays, ledgers)
            contents.append({"run_id": run.id, "basin_id": basin, "content": content})
    if closed:
        own = (BASINS.c.run_id == run.id) & (BASINS.c.basin_id == sa.bindparam("of_basin"))
        columns: dict[str, Any] = {name: sa.bindparam(name) for name in closed[0] if name != "of_basin"}
        connection.execute(BASINS.update().where(own).values(columns), closed)
    if contents:
        connection.execute(CONTENTS.insert(), contents)


def _series(row: Any) -> RunSeries:
    axes = dict(row.axes)
    shape = [len(labels) for labels in axes.values()]
    return RunSeries(row.variable, row.unit, axes, np.frombuffer(row.content, np.dtype(row.dtype)).reshape(shape))


def _left_to(state: Any, series: RunSeries) -> RunSeries:
    """Return an array; the cells of T0 without cells, where the state has them."""
    if series.variable != CELLS:
        return series
    arrays = whole(state.content, state.member_hashes, state.sha256)
    if arrays is None or "c" not in arrays or arrays["c"].tobytes() != series.values.tobytes():
        return series
    return replace(series, axes={**series.axes, "cell": []}, values=series.values[:, :0])


def _ledgers(closures: Sequence[Any], terms: Sequence[Any]) -> list[Ledger]:
    amounts: dict[str, dict[str, float]] = defaultdict(dict)
    for row in terms:
        amounts[row.member][row.term] = row.amount_mm
    return [
        Ledger(
            row.member,
            amounts[row.member],
            row.residual_mm,
            row.tolerance_mm,
            None if row.since_empty is None else SinceEmpty(**row.since_empty),
            row.trace,
        )
        for row in closures
    ]


def _unpack(run: Any) -> None:
    connection = op.get_bind()
    states = _states(run)
    series, closures, ledger = [], [], []
    for basin, rows in _of_run(CONTENTS, run.id).items():
        content = unpacked(owner_of(run.id, basin), rows[0].content)
        owned = {"run_id": run.id, "basin_id": basin}
        series += [owned | _row(array, states.get(basin)) for array in content.series.values()]
        closures += [owned | _closure(of_member) for of_member in content.ledgers]
        ledger += [
            owned | {"member": of_member.member, "term": term, "amount_mm": amount}
            for of_member in content.ledgers
            for term, amount in of_member.terms.items()
        ]
    for table, rows in ((SERIES, series), (CLOSURES, closures), (LEDGER, ledger)):
        if rows:
            connection.execute(table.insert(), rows)
    own = (PACKED_BASINS.c.run_id == run.id) & (PACKED_BASINS.c.basin_id == sa.bindparam("of_basin"))
    summaries = [
        {"of_basin": basin, "summary_json": unpack_text(rows[0].summary)}
        for basin, rows in _of_run(PACKED_BASINS, run.id).items()
    ]
    if summaries:
        column = {"summary_json": sa.bindparam("summary_json", type_=sa.JSON)}
        connection.execute(PACKED_BASINS.update().where(own).values(column), summaries)


def _row(series: RunSeries, state: Any | None) -> dict[str, Any]:
    axes, values = dict(series.axes), series.values
    if series.variable == CELLS and not values.size and state is not None:
        arrays = whole(state.content, state.member_hashes, state.sha256)
        if arrays is not None:
            values, axes = arrays["c"], {**axes, "cell": list(range(arrays["c"].shape[-1]))}
    return {
        "variable": series.variable,
        "unit": series.unit,
        "axes": [[name, list(labels)] for name, labels in axes.items()],
        "dtype": values.dtype.str,
        "content": values.tobytes(),
    }


def _closure(ledger: Ledger) -> dict[str, Any]:
    since = ledger.since_empty
    return {
        "member": ledger.member,
        "residual_mm": ledger.residual_mm,
        "tolerance_mm": ledger.tolerance_mm,
        "closes": ledger.closes,
        "since_empty": None
        if since is None
        else {"residual_mm": since.residual_mm, "precipitation_mm": since.precipitation_mm},
        "trace": ledger.trace,
    }
