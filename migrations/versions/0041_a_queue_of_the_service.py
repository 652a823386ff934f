"""a queue for the service's own operational jobs: queues are listed by the code alone, an older one knows fewer."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

_INTAKE = ("fetch", "basin", "upload", "weather")
"""The kinds that had the queue `ingest`."""


def upgrade() -> None:
    """Leave what waits in its queue: it is done there."""


def downgrade() -> None:
    jobs = sa.table("jobs", *(sa.column(name, sa.String()) for name in ("queue", "kind")))
    queue = sa.case((jobs.c.kind.in_(_INTAKE), "ingest"), else_="default")
    op.execute(jobs.update().where(jobs.c.queue == "service").values(queue=queue))
