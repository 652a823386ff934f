"""what was pruned, by which rule and when."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pruned",
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("rule", "id", name=op.f("pk_pruned")),
    )


def downgrade() -> None:
    op.drop_table("pruned")
