"""error models of basins without numbers of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("error_models", sa.Column("regional", sa.LargeBinary(), nullable=True))
    op.add_column("error_models", sa.Column("for_unseen", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("error_models", "for_unseen")
    op.drop_column("error_models", "regional")
