"""the key that a schedule was made with."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Those that are there were made by admins or on the command line: they keep the rights of the service.
    op.add_column("schedules", sa.Column("key_id", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("schedules", "key_id")
