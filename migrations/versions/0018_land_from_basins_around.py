"""Compute the states anew where attributes are assumed: these are estimated from basins around now."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE states SET invalid_at = CURRENT_TIMESTAMP, "
        """invalid_reason = '{"code": "attribute_revised", "parameters": {}}' """
        "WHERE invalid_at IS NULL AND basin_id IN (SELECT id FROM basins WHERE assume_attributes IS TRUE)"
    )


def downgrade() -> None:
    """Leave the states as they are: an invalid one is computed anew."""
