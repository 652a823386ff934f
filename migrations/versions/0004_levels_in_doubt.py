"""Confirm levels that seem wrong: held alerts without a deadline, and the discharge at which a level was confirmed."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("held_alerts") as table:
        table.alter_column("due_at", existing_type=sa.DateTime(timezone=True), nullable=True)
    op.add_column("thresholds", sa.Column("confirmed", sa.Double()))


def downgrade() -> None:
    op.drop_column("thresholds", "confirmed")
    op.execute("DELETE FROM held_alerts WHERE due_at IS NULL")
    with op.batch_alter_table("held_alerts") as table:
        table.alter_column("due_at", existing_type=sa.DateTime(timezone=True), nullable=False)
