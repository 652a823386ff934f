"""what a what-if run was asked to change."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_PARTS = ("run_ledger", "run_closures", "run_series", "run_basins")


def upgrade() -> None:
    # Not as a batch: SQLite adds and drops a column in place.
    op.add_column("runs", sa.Column("what_if", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    runs = sa.table("runs", sa.column("id", sa.String()), sa.column("what_if", sa.JSON(none_as_null=True)))
    asked = sa.select(runs.c.id).where(runs.c.what_if.is_not(None))
    for name in _PARTS:
        part = sa.table(name, sa.column("run_id", sa.String()))
        op.execute(part.delete().where(part.c.run_id.in_(asked)))
    op.execute(runs.delete().where(runs.c.what_if.is_not(None)))
    op.drop_column("runs", "what_if")
