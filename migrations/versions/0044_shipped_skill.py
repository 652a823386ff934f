"""scores that came with a shipped ensemble."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("scores") as batch:
        batch.add_column(sa.Column("shipped", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("scores") as batch:
        batch.drop_column("shipped")
