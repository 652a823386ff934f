"""Record which slices of tables a check has found whole."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verified_slices",
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("slice", sa.String(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("hashes", sa.String(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("table_name", "slice", name=op.f("pk_verified_slices")),
    )


def downgrade() -> None:
    op.drop_table("verified_slices")
