"""error models, and the flow of the last days with each state."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "error_models",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("weather", sa.String(), nullable=False),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("last", sa.Date(), nullable=False),
        sa.Column("days", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("first <= last", name=op.f("ck_error_models_order")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_error_models_sha256")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_error_models_version_id")),
        sa.PrimaryKeyConstraint("version_id", "weather", name=op.f("pk_error_models")),
    )
    op.create_table(
        "basin_errors",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("weather", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_basin_errors_sha256")),
        sa.ForeignKeyConstraint(
            ["version_id", "weather"],
            ["error_models.version_id", "error_models.weather"],
            name=op.f("fk_basin_errors_version_id_weather"),
        ),
        sa.PrimaryKeyConstraint("version_id", "weather", "basin_id", name=op.f("pk_basin_errors")),
    )
    op.add_column("states", sa.Column("recent_flow", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    op.drop_column("states", "recent_flow")
    op.drop_table("basin_errors")
    op.drop_table("error_models")
