"""Record the issues of the daily cycle: the expected basins of a day, and the outcome of each."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

OUTCOMES = "outcome IN ('issued', 'filled', 'unchanged', 'pending', 'stale', 'withheld', 'failed')"


def upgrade() -> None:
    op.create_table(
        "issues",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("job_id", sa.String()),
        sa.Column("expected", sa.Integer(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_issues")),
    )
    op.create_table(
        "issue_basins",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("run_id", sa.String()),
        sa.Column("reason", sa.String()),
        sa.CheckConstraint(OUTCOMES, name=op.f("ck_issue_basins_outcome")),
        sa.ForeignKeyConstraint(["day"], ["issues.day"], name=op.f("fk_issue_basins_day")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_issue_basins_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_issue_basins_version_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_issue_basins_run_id")),
        sa.PrimaryKeyConstraint("day", "basin_id", name=op.f("pk_issue_basins")),
    )


def downgrade() -> None:
    op.drop_table("issue_basins")
    op.drop_table("issues")
