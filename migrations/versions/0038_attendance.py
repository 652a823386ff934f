"""schedulers, clocks and troubles in the attendance."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nothing is taken over: each process that is there says so again within half a minute.
    op.drop_table("workers")
    op.create_table(
        "attendance",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("queues", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("clock_ahead_seconds", sa.Double(), nullable=False),
        sa.Column("trouble", sa.String(), nullable=True),
        sa.CheckConstraint("role IN ('worker', 'scheduler')", name=op.f("ck_attendance_role")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_attendance")),
    )


def downgrade() -> None:
    op.drop_table("attendance")
    op.create_table(
        "workers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("queues", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
