"""levels that operators set."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thresholds",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("discharge", sa.Double(), nullable=False),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("discharge > 0", name=op.f("ck_thresholds_discharge")),
        sa.CheckConstraint("direction IN ('rising', 'falling')", name=op.f("ck_thresholds_direction")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_thresholds_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", name=op.f("pk_thresholds")),
    )


def downgrade() -> None:
    op.drop_table("thresholds")
