"""Updates of forecasts by flow that was measured within the day, beside the adjustments of forecasters."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "measured_at": sa.DateTime(timezone=True),
    "measured_m3s": sa.Double(),
    "moves": sa.JSON(none_as_null=True),
}


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.add_column("adjustments", sa.Column(name, kind))


def downgrade() -> None:
    op.execute("DELETE FROM adjustments WHERE measured_at IS NOT NULL")
    with op.batch_alter_table("adjustments") as table:
        for name in COLUMNS:
            table.drop_column(name)
