"""levels of what versions simulate of past days."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "simulated_records",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("area_name", sa.String(), nullable=False),
        sa.Column("area_m2", sa.Double(), nullable=False),
        sa.Column("attributes_assumed", sa.JSON(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_simulated_records_order")),
        sa.CheckConstraint("area_m2 > 0", name=op.f("ck_simulated_records_area")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_simulated_records_version_id")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_simulated_records_basin_id")),
        sa.PrimaryKeyConstraint("version_id", "basin_id", name=op.f("pk_simulated_records")),
    )
    op.create_table(
        "simulated_levels",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("years", sa.Integer(), nullable=False),
        sa.Column("left_out_years", sa.Integer(), nullable=False),
        sa.Column("dry_years", sa.Integer(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("return_period_years", sa.Integer(), nullable=True),
        sa.Column("exceeded_percent", sa.Integer(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint("value IS NOT NULL OR reason IS NOT NULL", name=op.f("ck_simulated_levels_reason")),
        sa.ForeignKeyConstraint(
            ["version_id", "basin_id"],
            ["simulated_records.version_id", "simulated_records.basin_id"],
            name=op.f("fk_simulated_levels_version_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("version_id", "basin_id", "place", name=op.f("pk_simulated_levels")),
    )


def downgrade() -> None:
    op.drop_table("simulated_levels")
    op.drop_table("simulated_records")
