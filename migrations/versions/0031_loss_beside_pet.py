"""what versions lose on their past days, beside potential evapotranspiration."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("simulated_records", sa.Column("loss", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("simulated_records", "loss")
