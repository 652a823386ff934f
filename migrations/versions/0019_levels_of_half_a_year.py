"""Return periods of half a year: floods more frequent than those of years."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

Number = sa.Integer | sa.Double[float]
TABLES = ("alerts", "simulated_levels")


def upgrade() -> None:
    _change(sa.Integer(), sa.Double())


def downgrade() -> None:
    op.execute("DELETE FROM simulated_levels WHERE kind = 'frequent-flood'")
    _change(sa.Double(), sa.Integer())


def _change(before: Number, after: Number) -> None:
    for table in TABLES:
        with op.batch_alter_table(table) as batch:
            batch.alter_column("return_period_years", existing_type=before, type_=after, existing_nullable=True)
