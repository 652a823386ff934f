"""the program of a run."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not as a batch: other tables refer to this one, and SQLite adds and drops a column in place.
    op.add_column("runs", sa.Column("program", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("runs", "program")
