"""which states are valid and how old they are is read without their content."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_NAME = "ix_states_version_id_basin_id_day_invalid_at_created_at"


def upgrade() -> None:
    op.create_index(op.f(_NAME), "states", ["version_id", "basin_id", "day", "invalid_at", "created_at"])


def downgrade() -> None:
    op.drop_index(op.f(_NAME), table_name="states")
