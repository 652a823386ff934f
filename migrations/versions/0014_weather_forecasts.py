"""weather forecasts."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "weather_issues",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("reference_time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("operational", sa.Boolean(), nullable=False),
        sa.Column("licence", sa.String(), nullable=True),
        sa.Column("credit", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_weather_issues")),
        sa.UniqueConstraint(
            "source",
            "model",
            "reference_time",
            "operational",
            name=op.f("uq_weather_issues_source_model_reference_time_operational"),
        ),
    )
    op.create_table(
        "weather_basins",
        sa.Column("issue_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("available_time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("last", sa.Date(), nullable=False),
        sa.Column("traces", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("variables", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.CheckConstraint("last >= first", name=op.f("ck_weather_basins_days")),
        sa.ForeignKeyConstraint(["issue_id"], ["weather_issues.id"], name=op.f("fk_weather_basins_issue_id")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_weather_basins_basin_id")),
        sa.PrimaryKeyConstraint("issue_id", "basin_id", name=op.f("pk_weather_basins")),
    )
    op.create_index(op.f("ix_weather_basins_basin_id_first"), "weather_basins", ["basin_id", "first"])


def downgrade() -> None:
    op.drop_table("weather_basins")
    op.drop_table("weather_issues")
