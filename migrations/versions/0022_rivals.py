"""Rivals, whose forecasts and simulations are judged beside the own ones."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rivals",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("values_per_day", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('forecasts', 'simulation')", name=op.f("ck_rivals_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rivals")),
    )
    op.create_table(
        "rival_flows",
        sa.Column("rival_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("issued", sa.Date(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("days >= 1", name=op.f("ck_rival_flows_days")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_rival_flows_basin_id")),
        sa.ForeignKeyConstraint(["rival_id"], ["rivals.id"], name=op.f("fk_rival_flows_rival_id")),
        sa.PrimaryKeyConstraint("rival_id", "basin_id", "issued", name=op.f("pk_rival_flows")),
    )


def downgrade() -> None:
    op.drop_table("rival_flows")
    op.drop_table("rivals")
