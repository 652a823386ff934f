"""Signatures of simulated rivers."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("simulated_records") as table:
        table.add_column(sa.Column("signatures", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    with op.batch_alter_table("simulated_records") as table:
        table.drop_column("signatures")
