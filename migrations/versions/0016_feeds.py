"""feeds."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feeds",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("product", sa.String(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_fetch_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_success_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("last_error_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(last_error IS NULL) = (last_error_at IS NULL)", name=op.f("ck_feeds_error")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feeds")),
        sa.UniqueConstraint("name", name=op.f("uq_feeds_name")),
    )
    op.create_table(
        "feed_basins",
        sa.Column("feed_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("new_days", sa.Integer(), nullable=False),
        sa.Column("revised_days", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('new', 'revised', 'unchanged', 'failed')", name=op.f("ck_feed_basins_status")),
        sa.CheckConstraint("status <> 'failed' OR reason IS NOT NULL", name=op.f("ck_feed_basins_reason")),
        sa.ForeignKeyConstraint(["feed_id"], ["feeds.id"], name=op.f("fk_feed_basins_feed_id")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_feed_basins_basin_id")),
        sa.PrimaryKeyConstraint("feed_id", "basin_id", name=op.f("pk_feed_basins")),
    )
    op.create_table(
        "product_credits",
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("credit", sa.String(), nullable=False),
        sa.Column("licence", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("product", name=op.f("pk_product_credits")),
    )


def downgrade() -> None:
    op.drop_table("product_credits")
    op.drop_table("feed_basins")
    op.drop_table("feeds")
