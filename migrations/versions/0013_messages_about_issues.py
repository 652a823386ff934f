"""Notify operators of issues that are not complete: what each subscription is about, notices and their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

ABOUT = "about IN ('alerts', 'issues')"
FORGOTTEN = (
    (
        "DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT deliveries.id FROM deliveries JOIN subscriptions "
        "ON subscriptions.id = deliveries.subscription_id WHERE subscriptions.about = 'issues')"
    ),
    "DELETE FROM deliveries WHERE subscription_id IN (SELECT id FROM subscriptions WHERE about = 'issues')",
    "DELETE FROM subscriptions WHERE about = 'issues'",
)


def upgrade() -> None:
    op.create_table(
        "issue_notices",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("causes", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_notices")),
        sa.UniqueConstraint("day", "causes", name=op.f("uq_issue_notices_day_causes")),
    )
    with op.batch_alter_table("deliveries") as table:
        table.add_column(sa.Column("notice_id", sa.String()))
        table.create_foreign_key(op.f("fk_deliveries_notice_id"), "issue_notices", ["notice_id"], ["id"])
    op.add_column("subscriptions", sa.Column("about", sa.String()))
    op.execute("UPDATE subscriptions SET about = 'alerts'")
    with op.batch_alter_table("subscriptions") as table:
        table.alter_column("about", existing_type=sa.String(), nullable=False)
        table.create_check_constraint(op.f("ck_subscriptions_about"), ABOUT)


def downgrade() -> None:
    for statement in FORGOTTEN:
        op.execute(statement)
    with op.batch_alter_table("subscriptions") as table:
        table.drop_constraint(op.f("ck_subscriptions_about"), type_="check")
        table.drop_column("about")
    with op.batch_alter_table("deliveries") as table:
        table.drop_constraint(op.f("fk_deliveries_notice_id"), type_="foreignkey")
        table.drop_column("notice_id")
    op.drop_table("issue_notices")
