"""Notices about alarms of the service, beside those about issues of days."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

FORGOTTEN = (
    (
        "DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT deliveries.id FROM deliveries JOIN issue_notices "
        "ON issue_notices.id = deliveries.notice_id WHERE issue_notices.alarm <> '')"
    ),
    "DELETE FROM deliveries WHERE notice_id IN (SELECT id FROM issue_notices WHERE alarm <> '')",
    "DELETE FROM issue_notices WHERE alarm <> ''",
)


def upgrade() -> None:
    op.add_column("issue_notices", sa.Column("alarm", sa.String()))
    op.execute("UPDATE issue_notices SET alarm = ''")
    with op.batch_alter_table("issue_notices") as table:
        table.alter_column("alarm", existing_type=sa.String(), nullable=False)
        table.drop_constraint(op.f("uq_issue_notices_day_causes"), type_="unique")
        table.create_unique_constraint(op.f("uq_issue_notices_alarm_day_causes"), ["alarm", "day", "causes"])


def downgrade() -> None:
    for statement in FORGOTTEN:
        op.execute(statement)
    with op.batch_alter_table("issue_notices") as table:
        table.drop_constraint(op.f("uq_issue_notices_alarm_day_causes"), type_="unique")
        table.create_unique_constraint(op.f("uq_issue_notices_day_causes"), ["day", "causes"])
        table.drop_column("alarm")
