"""the key that posted a job, and the key that registered a basin."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_COLUMNS = {"jobs": "key_id", "basins": "registered_by"}


def upgrade() -> None:
    # Not as a batch: other tables refer to these, and SQLite adds and drops a column in place.
    for table, column in _COLUMNS.items():
        op.add_column(table, sa.Column(column, sa.String(), nullable=True))


def downgrade() -> None:
    for table, column in _COLUMNS.items():
        op.drop_column(table, column)
