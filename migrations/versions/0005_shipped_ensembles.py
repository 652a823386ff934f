"""versions that learnt from basins which are not kept here, the jobs that install them, and networks
without an embedding."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_JOBS = ["ingest", "training", "member", "forecast", "evaluation", "comparison"]
_KINDS = {"jobs": _JOBS, "schedules": [kind for kind in _JOBS if kind != "member"]}
_NEW = "pretrained"


def upgrade() -> None:
    for table, kinds in _KINDS.items():
        _allow(table, kinds, [*kinds, _NEW])
    with op.batch_alter_table("version_basins") as batch:
        batch.drop_constraint(op.f("fk_version_basins_basin_id"), type_="foreignkey")
    _change_networks(lambda network: {"embedding": 0, **network})


def downgrade() -> None:
    _change_networks(lambda network: {key: value for key, value in network.items() if (key, value) != ("embedding", 0)})
    of_version = sa.table("version_basins", sa.column("basin_id", sa.String()))
    kept = sa.table("basins", sa.column("id", sa.String()))
    op.execute(of_version.delete().where(of_version.c.basin_id.not_in(sa.select(kept.c.id))))
    with op.batch_alter_table("version_basins") as batch:
        batch.create_foreign_key(op.f("fk_version_basins_basin_id"), "basins", ["basin_id"], ["id"])
    for table, kinds in _KINDS.items():
        rows = sa.table(table, sa.column("kind", sa.String()))
        op.execute(rows.delete().where(rows.c.kind == _NEW))
        _allow(table, [*kinds, _NEW], kinds)


def _allow(table: str, before: list[str], after: list[str]) -> None:
    """Let the column `kind` hold other words."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint(op.f(f"ck_{table}_kind"), table, type_="check")
        op.create_check_constraint(op.f(f"ck_{table}_kind"), table, _one_of(after))
        return
    # Into the schema, as in 0004: a batch would drop the table, and with its rows those that refer to them.
    schema = sa.table("sqlite_master", sa.column("name", sa.String()), sa.column("sql", sa.String()))
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        schema.update()
        .where(schema.c.name == table)
        .values(sql=sa.func.replace(schema.c.sql, _one_of(before), _one_of(after)))
    )
    op.execute("PRAGMA writable_schema = RESET")


def _change_networks(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change how versions and trainings describe an MC-LSTM."""
    rows = sa.table("versions", sa.column("id", sa.String()), sa.column("config", sa.JSON()))
    for row in op.get_bind().execute(sa.select(rows)).all():
        if _describes_mclstm(row.config):
            op.execute(rows.update().where(rows.c.id == row.id).values(config=_with(row.config, change)))
    # What a training was asked for: one under way goes on with the network that it began with.
    rows = sa.table("trainings", sa.column("id", sa.String()), sa.column("request", sa.JSON()))
    for row in op.get_bind().execute(sa.select(rows)).all():
        config = row.request.get("config", {})
        if _describes_mclstm(config):
            request = row.request | {"config": _with(config, change)}
            op.execute(rows.update().where(rows.c.id == row.id).values(request=request))


def _describes_mclstm(config: dict[str, Any]) -> bool:
    return bool(config.get("network", {}).get("architecture") == "mclstm")


def _with(config: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    return config | {"network": change(config["network"])}


def _one_of(kinds: list[str]) -> str:
    return f"kind IN ({', '.join(repr(kind) for kind in kinds)})"
