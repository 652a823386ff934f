"""the operator's key that versions, runs and comparisons are stored under."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("versions", sa.Column("owner", sa.String(), nullable=True))
    op.add_column("comparisons", sa.Column("owner", sa.String(), nullable=True))
    with op.batch_alter_table("runs") as batch:
        batch.add_column(sa.Column("owner", sa.String(), nullable=True))
        batch.create_check_constraint(op.f("ck_runs_owner"), "owner IS NULL OR purpose <> 'operational'")
    # A run that an operator's job asked for is named by that job. Of versions and comparisons nobody knows.
    op.execute(
        "UPDATE runs SET owner = (SELECT jobs.key_id FROM jobs JOIN keys ON keys.id = jobs.key_id "
        "WHERE jobs.id = runs.request_key AND keys.scope = 'operator') WHERE purpose <> 'operational'"
    )


def downgrade() -> None:
    with op.batch_alter_table("runs") as batch:
        batch.drop_constraint(op.f("ck_runs_owner"), type_="check")
        batch.drop_column("owner")
    op.drop_column("comparisons", "owner")
    op.drop_column("versions", "owner")
