"""kinds of jobs are listed by the code alone, and tables that are sent to the service are a kind of their own."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KINDS = ["ingest", "training", "member", "forecast", "evaluation", "comparison", "pretrained"]
_OF_SCHEDULES = [kind for kind in _KINDS if kind != "member"]
_KINDS_OF = {"jobs": _KINDS, "schedules": _OF_SCHEDULES}


def upgrade() -> None:
    for table in _KINDS_OF:
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(op.f(f"ck_{table}_kind"), type_="check")
        for row in _rows(table, "ingest"):
            if row.params.get("source") == "tables":
                params = {name: value for name, value in row.params.items() if name != "source"}
                _set(table, row.id, "upload", params)


def downgrade() -> None:
    for table, kinds in _KINDS_OF.items():
        for row in _rows(table, "upload"):
            _set(table, row.id, "ingest", {"source": "tables", **row.params})
        _delete_but(table, kinds)
        words = ", ".join(repr(kind) for kind in kinds)
        with op.batch_alter_table(table) as batch:
            batch.create_check_constraint(op.f(f"ck_{table}_kind"), f"kind IN ({words})")


def _delete_but(table: str, kinds: list[str]) -> None:
    rows = _table(table)
    later = rows.c.kind.not_in(kinds)
    if table == "jobs":
        events = sa.table("job_events", sa.column("job_id", sa.String()))
        op.execute(events.delete().where(events.c.job_id.in_(sa.select(rows.c.id).where(later))))
        schedules = sa.table("schedules", sa.column("last_job_id", sa.String()))
        last = schedules.c.last_job_id.in_(sa.select(rows.c.id).where(later))
        op.execute(schedules.update().where(last).values(last_job_id=None))
    op.execute(rows.delete().where(later))


def _table(name: str) -> sa.TableClause:
    return sa.table(name, sa.column("id", sa.String()), sa.column("kind", sa.String()), sa.column("params", sa.JSON()))


def _rows(table: str, kind: str) -> Sequence[sa.Row[Any]]:
    rows = _table(table)
    return op.get_bind().execute(sa.select(rows).where(rows.c.kind == kind)).all()


def _set(table: str, row: str, kind: str, params: dict[str, Any]) -> None:
    rows = _table(table)
    op.execute(rows.update().where(rows.c.id == row).values(kind=kind, params=params))
