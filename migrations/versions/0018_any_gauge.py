"""points that a basin's weather is averaged over, and attributes that may be assumed and were."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("basins", "weather_points", sa.JSON(none_as_null=True)),
    ("basins", "assume_attributes", sa.Boolean()),
    ("scores", "attributes_assumed", sa.JSON(none_as_null=True)),
)


def upgrade() -> None:
    # Not as a batch: SQLite adds and drops a column in place.
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    for table, name, _ in _COLUMNS:
        op.drop_column(table, name)
