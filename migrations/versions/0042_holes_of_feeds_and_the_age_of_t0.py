"""what feeds lack inside their records, what is doubtful in what they brought, and how old T0 was at issue."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("t0_age_days", sa.Integer(), nullable=True))
    op.add_column("runs", sa.Column("t0_stale", sa.Boolean(), nullable=True))
    for name in ("holes", "warnings"):
        column = sa.Column(name, sa.JSON(none_as_null=True), nullable=False, server_default="[]")
        op.add_column("feed_basins", column)


def downgrade() -> None:
    for name in ("warnings", "holes"):
        op.drop_column("feed_basins", name)
    for name in ("t0_stale", "t0_age_days"):
        op.drop_column("runs", name)
