"""Remember which mailboxes were asked or have refused, and when a job's newest attempt was started."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "mail_questions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("mailbox", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("is_allowed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail_questions")),
    )
    op.create_index(op.f("ix_mail_questions_key_id_at"), "mail_questions", ["key_id", "at"])
    op.create_index(op.f("ix_mail_questions_mailbox"), "mail_questions", ["mailbox"])
    op.create_table(
        "mail_refusals",
        sa.Column("mailbox", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("mailbox", name=op.f("pk_mail_refusals")),
    )
    op.create_table(
        "mailbox_salt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("salt", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_mailbox_salt_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_salt")),
    )
    op.add_column("jobs", sa.Column("claimed_at", INSTANT, nullable=True))


def downgrade() -> None:
    op.drop_column("jobs", "claimed_at")
    for table in ("mailbox_salt", "mail_refusals", "mail_questions"):
        op.drop_table(table)
