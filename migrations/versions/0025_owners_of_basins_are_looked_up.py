"""Owners of basins are looked up: what is in the shadow, by every public transaction."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_basins_registered_by"), "basins", ["registered_by"])


def downgrade() -> None:
    op.drop_index(op.f("ix_basins_registered_by"), table_name="basins")
