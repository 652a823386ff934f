"""bridges between products of weather."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bridges",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("from_product", sa.String(), nullable=False),
        sa.Column("to_product", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("first", sa.Date(), nullable=True),
        sa.Column("last", sa.Date(), nullable=True),
        sa.Column("refused", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("first <= last", name=op.f("ck_bridges_order")),
        sa.CheckConstraint("from_product <> to_product", name=op.f("ck_bridges_products")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bridges")),
    )
    op.create_index(op.f("ix_bridges_name_id"), "bridges", ["name", "id"])
    op.create_index(op.f("ix_bridges_model"), "bridges", ["model"])
    op.create_table(
        "bridge_basins",
        sa.Column("bridge_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("corrections", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("skill", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("pooled_from", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("pooled_reason", sa.String(), nullable=True),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("applied_stamp", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(skill IS NULL) = (pooled_reason IS NOT NULL)", name=op.f("ck_bridge_basins_pooled")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_bridge_basins_sha256")),
        sa.ForeignKeyConstraint(["bridge_id"], ["bridges.id"], name=op.f("fk_bridge_basins_bridge_id")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_bridge_basins_basin_id")),
        sa.PrimaryKeyConstraint("bridge_id", "basin_id", name=op.f("pk_bridge_basins")),
    )
    op.create_index(op.f("ix_bridge_basins_basin_id"), "bridge_basins", ["basin_id"])


def downgrade() -> None:
    op.drop_table("bridge_basins")
    op.drop_table("bridges")
