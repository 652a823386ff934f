"""State what to do from a level on, and store with a message what was stated of the levels ahead."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("thresholds", sa.Column("instruction", sa.String()))
    op.add_column("alert_changes", sa.Column("advice", sa.JSON()))


def downgrade() -> None:
    op.drop_column("alert_changes", "advice")
    op.drop_column("thresholds", "instruction")
