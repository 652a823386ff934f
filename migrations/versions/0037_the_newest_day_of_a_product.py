"""the newest day of a product is one look into an index."""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_NAME = "ix_series_arrivals_product_last_day"


def upgrade() -> None:
    op.create_index(op.f(_NAME), "series_arrivals", ["product", "last_day"])


def downgrade() -> None:
    op.drop_index(op.f(_NAME), table_name="series_arrivals")
