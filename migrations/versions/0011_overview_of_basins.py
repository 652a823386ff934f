"""Store the numbers that all basins are listed by beside each outlook, and find standing alerts by an index."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

NUMBERS = ("weather_until", "chance", "peak", "percent_of_normal", "snow_percent")


def upgrade() -> None:
    # SQLite reads a row up to the column that it needs: the numbers stand before the large one.
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    place: dict[str, Any] = {"insert_after": "has_season"} if is_sqlite else {}
    with op.batch_alter_table("outlooks", recreate="always" if is_sqlite else "never") as table:
        for name in reversed(NUMBERS):
            table.add_column(sa.Column(name, sa.Date() if name == "weather_until" else sa.Double()), **place)
    op.create_index(op.f("ix_alerts_severity"), "alerts", ["severity"])


def downgrade() -> None:
    op.drop_index(op.f("ix_alerts_severity"), table_name="alerts")
    with op.batch_alter_table("outlooks") as table:
        for name in NUMBERS:
            table.drop_column(name)
