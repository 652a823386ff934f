"""how true forecasts were, by lead and season."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verification",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("forecaster", sa.String(), nullable=False),
        sa.Column("lead", sa.Integer(), nullable=False),
        sa.Column("season", sa.String(), nullable=False),
        sa.Column("every_days", sa.Integer(), nullable=False),
        sa.Column("error_model", sa.String(), nullable=True),
        sa.Column("attributes_assumed", sa.JSON(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("years", sa.Integer(), nullable=False),
        sa.Column("crps_mm_per_day", sa.Double(), nullable=True),
        sa.Column("crpss_climatology", sa.Double(), nullable=True),
        sa.Column("crpss_climatology_low", sa.Double(), nullable=True),
        sa.Column("crpss_climatology_high", sa.Double(), nullable=True),
        sa.Column("crpss_persistence", sa.Double(), nullable=True),
        sa.Column("crpss_persistence_low", sa.Double(), nullable=True),
        sa.Column("crpss_persistence_high", sa.Double(), nullable=True),
        sa.Column("coverage_90", sa.Double(), nullable=True),
        sa.Column("coverage_90_low", sa.Double(), nullable=True),
        sa.Column("coverage_90_high", sa.Double(), nullable=True),
        sa.Column("coverage_50", sa.Double(), nullable=True),
        sa.Column("width_90_mm_per_day", sa.Double(), nullable=True),
        sa.Column("width_50_mm_per_day", sa.Double(), nullable=True),
        sa.Column("nse_of_median", sa.Double(), nullable=True),
        sa.Column("threshold_mm_per_day", sa.Double(), nullable=True),
        sa.Column("brier", sa.Double(), nullable=True),
        sa.Column("pod", sa.Double(), nullable=True),
        sa.Column("far", sa.Double(), nullable=True),
        sa.Column("csi", sa.Double(), nullable=True),
        sa.Column("pit", sa.JSON(), nullable=True),
        sa.Column("reliability", sa.JSON(), nullable=True),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_verification_order")),
        sa.CheckConstraint("lead >= 1", name=op.f("ck_verification_lead")),
        sa.CheckConstraint("n >= 0", name=op.f("ck_verification_n")),
        sa.CheckConstraint("every_days >= 1", name=op.f("ck_verification_every_days")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_verification_version_id")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_verification_basin_id")),
        sa.PrimaryKeyConstraint(
            "version_id",
            "basin_id",
            "first_day",
            "last_day",
            "forecaster",
            "lead",
            "season",
            name=op.f("pk_verification"),
        ),
    )


def downgrade() -> None:
    op.drop_table("verification")
