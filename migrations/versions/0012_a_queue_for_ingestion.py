"""queues are listed by the code alone: ingestion has one of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_NAME = "ck_jobs_queue"


def upgrade() -> None:
    with op.batch_alter_table("jobs") as batch:
        batch.drop_constraint(op.f(_NAME), type_="check")


def downgrade() -> None:
    jobs = sa.table("jobs", sa.column("queue", sa.String()))
    op.execute(jobs.update().where(jobs.c.queue == "ingest").values(queue="default"))
    with op.batch_alter_table("jobs") as batch:
        batch.create_check_constraint(op.f(_NAME), "queue IN ('default', 'training')")
