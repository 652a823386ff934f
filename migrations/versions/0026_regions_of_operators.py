"""Regions of operators, which keys and subscriptions are of."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

ONE_RULE = " + ".join(f"CASE WHEN {rule} IS NULL THEN 0 ELSE 1 END" for rule in ("huc", "agency", "basins"))
HOLDERS = ("keys", "subscriptions")
WITHDRAWN = (
    (
        "DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT deliveries.id FROM deliveries JOIN subscriptions "
        "ON subscriptions.id = deliveries.subscription_id WHERE subscriptions.region IS NOT NULL)"
    ),
    "DELETE FROM deliveries WHERE subscription_id IN (SELECT id FROM subscriptions WHERE region IS NOT NULL)",
    "DELETE FROM subscriptions WHERE region IS NOT NULL",
    "UPDATE keys SET revoked_at = created_at WHERE region IS NOT NULL AND revoked_at IS NULL",
)
"""Without regions they would be of all basins."""


def upgrade() -> None:
    op.create_table(
        "regions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("huc", sa.String()),
        sa.Column("agency", sa.String()),
        sa.Column("basins", sa.JSON()),
        sa.Column("unfinished_jobs", sa.Integer()),
        sa.Column("subscriptions", sa.Integer()),
        sa.CheckConstraint(f"{ONE_RULE} = 1", name=op.f("ck_regions_rule")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regions")),
    )
    for table in HOLDERS:
        op.add_column(table, sa.Column("region", sa.String()))


def downgrade() -> None:
    for statement in WITHDRAWN:
        op.execute(statement)
    for table in HOLDERS:
        with op.batch_alter_table(table) as altered:
            altered.drop_column("region")
    op.drop_table("regions")
