"""Store the arrays of a run that are pruned with its members apart from those that are stored for ever."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run_members",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_run_members_run_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", name=op.f("pk_run_members")),
    )


def downgrade() -> None:
    op.drop_table("run_members")
