"""Store the outlook of each run's forecast of a basin."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outlooks",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("has_season", sa.Boolean(), nullable=False),
        sa.Column("outlook", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_outlooks_run_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", name=op.f("pk_outlooks")),
    )
    op.create_index(op.f("ix_outlooks_basin_id_has_season"), "outlooks", ["basin_id", "has_season"])


def downgrade() -> None:
    op.drop_table("outlooks")
