"""states carry the sums of the ledger since the empty store, and runs tell what they leave unexplained."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("states", "spin_up_days", sa.Integer()),
    ("states", "sums", sa.LargeBinary()),
    ("states", "sums_hash", sa.String()),
    ("run_closures", "since_empty", sa.JSON()),
)


def upgrade() -> None:
    # Not as a batch: SQLite adds and drops a column in place.
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    for table, name, _ in _COLUMNS:
        op.drop_column(table, name)
