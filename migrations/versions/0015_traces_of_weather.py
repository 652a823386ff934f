"""runs name the weather forecast that they used, and ledgers the trace of weather that they are of."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not as a batch: SQLite adds and drops a column in place.
    op.add_column("runs", sa.Column("weather", sa.JSON(), nullable=True))
    op.add_column("run_closures", sa.Column("trace", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("run_closures", "trace")
    op.drop_column("runs", "weather")
