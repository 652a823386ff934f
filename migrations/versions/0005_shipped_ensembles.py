"""versions that learnt from basins which are not kept here, the jobs that install them, and trainings
of before the embedding, the expectile, the mean of the weights and bfloat16."""

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
_LOSS_AND_WEIGHTS = {"averaging": 0.0, "precision": "float32", "expectile": 0.5}
_NETWORK = {"embedding": 0}


def upgrade() -> None:
    for table, kinds in _KINDS.items():
        _allow(table, kinds, [*kinds, _NEW])
    with op.batch_alter_table("version_basins") as batch:
        batch.drop_constraint(op.f("fk_version_basins_basin_id"), type_="foreignkey")
    _change_configs(_as_they_were)


def downgrade() -> None:
    _change_configs(_without_choice)
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


def _as_they_were(config: dict[str, Any]) -> dict[str, Any]:
    """Say of a training what all were before it could be chosen."""
    return {**_LOSS_AND_WEIGHTS, **config, "network": _network(config, lambda network: {**_NETWORK, **network})}


def _without_choice(config: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in config.items() if key not in _LOSS_AND_WEIGHTS}
    paper = _NETWORK.items()
    return {**kept, "network": _network(config, lambda network: dict(network.items() - paper))}


def _network(config: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    network: dict[str, Any] = config["network"]
    return change(network) if network["architecture"] == "mclstm" else network


def _change_configs(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change what versions and trainings were asked to do: a training under way goes on as it began."""
    rows = sa.table("versions", sa.column("id", sa.String()), sa.column("config", sa.JSON()))
    for row in op.get_bind().execute(sa.select(rows)).all():
        if "network" in row.config:
            op.execute(rows.update().where(rows.c.id == row.id).values(config=change(row.config)))
    rows = sa.table("trainings", sa.column("id", sa.String()), sa.column("request", sa.JSON()))
    for row in op.get_bind().execute(sa.select(rows)).all():
        if "config" in row.request:
            request = row.request | {"config": change(row.request["config"])}
            op.execute(rows.update().where(rows.c.id == row.id).values(request=request))


def _one_of(kinds: list[str]) -> str:
    return f"kind IN ({', '.join(repr(kind) for kind in kinds)})"
