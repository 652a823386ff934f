"""water in the basins on the past days that versions simulate."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "simulated_water",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("cells", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("variable IN ('storage', 'snow')", name=op.f("ck_simulated_water_variable")),
        sa.CheckConstraint("(variable = 'snow') = (cells IS NOT NULL)", name=op.f("ck_simulated_water_cells")),
        sa.ForeignKeyConstraint(
            ["version_id", "basin_id"],
            ["simulated_records.version_id", "simulated_records.basin_id"],
            name=op.f("fk_simulated_water_version_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("version_id", "basin_id", "variable", name=op.f("pk_simulated_water")),
    )


def downgrade() -> None:
    op.drop_table("simulated_water")
