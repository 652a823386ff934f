"""the request that a run answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not as a batch: other tables refer to this one, and SQLite adds and drops a column in place.
    op.add_column("runs", sa.Column("request_key", sa.String(), nullable=True))
    op.create_index(op.f("ix_runs_request_key"), "runs", ["request_key"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_runs_request_key"), table_name="runs")
    op.drop_column("runs", "request_key")
