"""Record how much room each kind of data took on a day."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "storage_sizes",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "kind", name=op.f("pk_storage_sizes")),
    )


def downgrade() -> None:
    op.drop_table("storage_sizes")
