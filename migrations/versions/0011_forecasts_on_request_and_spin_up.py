"""forecasts that somebody asked for on the side are told apart, and so are those from a store that is filling up."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PURPOSES = "purpose IN ('operational', 'reforecast', 'what-if')"


def upgrade() -> None:
    with op.batch_alter_table("runs") as batch:
        batch.drop_constraint(op.f("ck_runs_purpose"), type_="check")
    # Not as a batch: SQLite adds and drops a column in place.
    op.add_column("run_basins", sa.Column("spin_up_days", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("run_basins", "spin_up_days")
    rows = sa.table("runs", sa.column("purpose", sa.String()))
    op.execute(rows.update().where(rows.c.purpose == "on-request").values(purpose="what-if"))
    with op.batch_alter_table("runs") as batch:
        batch.create_check_constraint(op.f("ck_runs_purpose"), _PURPOSES)
