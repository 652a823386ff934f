"""snow in basins without a reference, and what reads as snow where there is none."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("snow_cells", sa.Column("bare_mm", sa.Double(), nullable=True))
    op.create_table(
        "regional_snow",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("content", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("evaluated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_regional_snow_version_id")),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_regional_snow")),
    )


def downgrade() -> None:
    op.drop_table("regional_snow")
    op.drop_column("snow_cells", "bare_mm")
