"""What an operator registered is unofficial: whose a basin and a version were, and whose basin an alert is of."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = {"alert_changes": "owner", "basins": "adopted_from", "versions": "adopted_from"}
OWNERS = """
UPDATE alert_changes SET owner = basins.registered_by, sender = NULL
FROM basins JOIN keys ON keys.id = basins.registered_by
WHERE basins.id = alert_changes.basin_id AND keys.scope <> 'admin'
"""


def upgrade() -> None:
    for table, column in COLUMNS.items():
        op.add_column(table, sa.Column(column, sa.String(), nullable=True))
    op.execute(OWNERS)


def downgrade() -> None:
    for table, column in COLUMNS.items():
        op.drop_column(table, column)
