"""Store products of weather that are means of others, with what each is the mean of."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fused_products",
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("product", name=op.f("pk_fused_products")),
    )


def downgrade() -> None:
    op.drop_table("fused_products")
