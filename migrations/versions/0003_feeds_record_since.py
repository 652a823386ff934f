"""Feeds store since when a record is asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("feed_basins", schema=None) as batch_op:
        batch_op.add_column(sa.Column("record_since", sa.String(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("feed_basins", schema=None) as batch_op:
        batch_op.drop_column("record_since")
