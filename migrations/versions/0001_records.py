"""records."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "basins",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("latitude", sa.Double(), nullable=True),
        sa.Column("longitude", sa.Double(), nullable=True),
        sa.Column("huc", sa.String(), nullable=True),
        sa.CheckConstraint("latitude BETWEEN -90 AND 90", name=op.f("ck_basins_latitude")),
        sa.CheckConstraint("longitude BETWEEN -180 AND 180", name=op.f("ck_basins_longitude")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_basins")),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_sources_sha256")),
        sa.CheckConstraint("size >= 0", name=op.f("ck_sources_size")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("name", "sha256", name=op.f("uq_sources_name_sha256")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("architecture", sa.String(), nullable=False),
        sa.Column("conserving", sa.Boolean(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("config", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("scaler", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("data_hash", sa.String(), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("parent_id", sa.String(), nullable=True),
        sa.Column("label", sa.String(), nullable=True),
        sa.Column("uses", sa.String(), nullable=False),
        sa.Column("properties", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("weights_hash", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.CheckConstraint("status IN ('ready', 'withdrawn')", name=op.f("ck_versions_status")),
        sa.CheckConstraint("uses IN ('best', 'last')", name=op.f("ck_versions_uses")),
        sa.ForeignKeyConstraint(["parent_id"], ["versions.id"], name=op.f("fk_versions_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
    )
    op.create_table(
        "basin_areas",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.CheckConstraint("value > 0", name=op.f("ck_basin_areas_positive")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_basin_areas_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", name=op.f("pk_basin_areas")),
    )
    op.create_table(
        "basin_attributes",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_basin_attributes_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", name=op.f("pk_basin_attributes")),
    )
    op.create_table(
        "basin_quality",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("findings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_basin_quality_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "product", name=op.f("pk_basin_quality")),
    )
    op.create_table(
        "basin_texts",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_basin_texts_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", name=op.f("pk_basin_texts")),
    )
    op.create_table(
        "promotions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("promoted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("promoted_by", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.CheckConstraint("length(promoted_by) > 0", name=op.f("ck_promotions_promoted_by")),
        sa.CheckConstraint("length(reason) > 0", name=op.f("ck_promotions_reason")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_promotions_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_promotions_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_promotions")),
    )
    with op.batch_alter_table("promotions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_promotions_basin_id"), ["basin_id"], unique=False)

    op.create_table(
        "runs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("t0", sa.Date(), nullable=False),
        sa.Column("horizon_days", sa.Integer(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("weights_hash", sa.String(), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("forcing_kind", sa.String(), nullable=False),
        sa.Column("forcing_cutoff", sa.Date(), nullable=True),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("members", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint("(status = 'issued') = (reason IS NULL)", name=op.f("ck_runs_reason")),
        sa.CheckConstraint(
            "forcing_kind IN ('observed', 'supplied', 'climatology')", name=op.f("ck_runs_forcing_kind")
        ),
        sa.CheckConstraint("purpose IN ('operational', 'reforecast', 'what-if')", name=op.f("ck_runs_purpose")),
        sa.CheckConstraint("status IN ('issued', 'partial', 'failed')", name=op.f("ck_runs_status")),
        sa.CheckConstraint("available_at >= issued_at", name=op.f("ck_runs_available")),
        sa.CheckConstraint("horizon_days > 0", name=op.f("ck_runs_horizon")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_runs_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_runs_version_id_purpose_t0"), ["version_id", "purpose", "t0"], unique=False
        )

    op.create_table(
        "scores",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("lead", sa.String(), nullable=False),
        sa.Column("season", sa.String(), nullable=False),
        sa.Column("threshold", sa.String(), nullable=False),
        sa.Column("forcing_kind", sa.String(), nullable=False),
        sa.Column("reference", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("evaluated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name=op.f("ck_scores_reason")),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_scores_order")),
        sa.CheckConstraint("low <= high", name=op.f("ck_scores_interval")),
        sa.CheckConstraint("n >= 0", name=op.f("ck_scores_n")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_scores_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_scores_version_id")),
        sa.PrimaryKeyConstraint(
            "version_id",
            "basin_id",
            "member",
            "metric",
            "first_day",
            "last_day",
            "lead",
            "season",
            "threshold",
            "forcing_kind",
            "reference",
            name=op.f("pk_scores"),
        ),
    )
    op.create_table(
        "series",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("value_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("flag_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(flag_bytes) IN (365, 366)", name=op.f("ck_series_days")),
        sa.CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name=op.f("ck_series_values")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_series_basin_id")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_series_source_id")),
        sa.PrimaryKeyConstraint("basin_id", "product", "variable", "year", name=op.f("pk_series")),
    )
    op.create_table(
        "series_arrivals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_series_arrivals_order")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_series_arrivals_basin_id")),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_series_arrivals_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series_arrivals")),
    )
    with op.batch_alter_table("series_arrivals", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_series_arrivals_basin_id_product_variable"),
            ["basin_id", "product", "variable"],
            unique=False,
        )

    op.create_table(
        "series_revisions",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("offset_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("value_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("flag_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("old_source_id", sa.Integer(), nullable=False),
        sa.Column("new_source_id", sa.Integer(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(flag_bytes) > 0", name=op.f("ck_series_revisions_days")),
        sa.CheckConstraint("length(offset_bytes) = 2 * length(flag_bytes)", name=op.f("ck_series_revisions_offsets")),
        sa.CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name=op.f("ck_series_revisions_values")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_series_revisions_basin_id")),
        sa.ForeignKeyConstraint(["new_source_id"], ["sources.id"], name=op.f("fk_series_revisions_new_source_id")),
        sa.ForeignKeyConstraint(["old_source_id"], ["sources.id"], name=op.f("fk_series_revisions_old_source_id")),
        sa.PrimaryKeyConstraint(
            "basin_id", "product", "variable", "year", "revision", name=op.f("pk_series_revisions")
        ),
    )
    op.create_table(
        "snow_cells",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("cells", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("training_first", sa.Date(), nullable=False),
        sa.Column("training_last", sa.Date(), nullable=False),
        sa.Column("training_r", sa.Double(), nullable=True),
        sa.Column("test_first", sa.Date(), nullable=False),
        sa.Column("test_last", sa.Date(), nullable=False),
        sa.Column("test_r", sa.Double(), nullable=True),
        sa.Column("bias_pct", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("evaluated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "reason IS NOT NULL OR (training_r IS NOT NULL AND test_r IS NOT NULL AND bias_pct IS NOT NULL)",
            name=op.f("ck_snow_cells_reason"),
        ),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_snow_cells_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_snow_cells_version_id")),
        sa.PrimaryKeyConstraint("version_id", "basin_id", "product", name=op.f("pk_snow_cells")),
    )
    op.create_table(
        "states",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("product", sa.String(), nullable=False),
        sa.Column("variant", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("member_hashes", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("parent_day", sa.Date(), nullable=True),
        sa.Column("parent_hash", sa.String(), nullable=True),
        sa.Column("inputs_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("invalid_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("invalid_reason", sa.String(), nullable=True),
        sa.CheckConstraint("(invalid_at IS NULL) = (invalid_reason IS NULL)", name=op.f("ck_states_invalid")),
        sa.CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name=op.f("ck_states_parent")),
        sa.CheckConstraint("parent_day < day", name=op.f("ck_states_order")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_states_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_states_version_id")),
        sa.PrimaryKeyConstraint("version_id", "basin_id", "day", name=op.f("pk_states")),
    )
    with op.batch_alter_table("states", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_states_basin_id_product_day"), ["basin_id", "product", "day"], unique=False
        )

    op.create_table(
        "trainings",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("version_id", sa.String(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("(status = 'failed') = (reason IS NOT NULL)", name=op.f("ck_trainings_reason")),
        sa.CheckConstraint("(status = 'finished') = (version_id IS NOT NULL)", name=op.f("ck_trainings_version")),
        sa.CheckConstraint("status IN ('running', 'finished', 'failed')", name=op.f("ck_trainings_status")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_trainings_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trainings")),
    )
    op.create_table(
        "version_basins",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_version_basins_basin_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_version_basins_version_id")),
        sa.PrimaryKeyConstraint("version_id", "basin_id", name=op.f("pk_version_basins")),
    )
    op.create_table(
        "version_members",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("label", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("log", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_version_members_version_id")),
        sa.PrimaryKeyConstraint("version_id", "label", name=op.f("pk_version_members")),
    )
    op.create_table(
        "run_basins",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("parent_day", sa.Date(), nullable=True),
        sa.Column("parent_hash", sa.String(), nullable=True),
        sa.Column("state_hash", sa.String(), nullable=True),
        sa.Column("inputs_hash", sa.String(), nullable=True),
        sa.Column("area_m2", sa.Double(), nullable=True),
        sa.Column("area_name", sa.String(), nullable=True),
        sa.Column("summary", sa.JSON(none_as_null=True), nullable=False),
        sa.CheckConstraint("(status = 'issued') = (reason IS NULL)", name=op.f("ck_run_basins_reason")),
        sa.CheckConstraint("status IN ('issued', 'withheld', 'failed')", name=op.f("ck_run_basins_status")),
        sa.CheckConstraint("(area_m2 IS NULL) = (area_name IS NULL)", name=op.f("ck_run_basins_area")),
        sa.CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name=op.f("ck_run_basins_parent")),
        sa.CheckConstraint("area_m2 > 0", name=op.f("ck_run_basins_area_positive")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_run_basins_basin_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_basins_run_id")),
        sa.PrimaryKeyConstraint("run_id", "basin_id", name=op.f("pk_run_basins")),
    )
    with op.batch_alter_table("run_basins", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_run_basins_basin_id"), ["basin_id"], unique=False)

    op.create_table(
        "training_checkpoints",
        sa.Column("training_id", sa.String(), nullable=False),
        sa.Column("label", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("progress", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["training_id"], ["trainings.id"], name=op.f("fk_training_checkpoints_training_id")),
        sa.PrimaryKeyConstraint("training_id", "label", name=op.f("pk_training_checkpoints")),
    )
    op.create_table(
        "training_members",
        sa.Column("training_id", sa.String(), nullable=False),
        sa.Column("label", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("best", sa.LargeBinary(), nullable=True),
        sa.Column("best_sha256", sa.String(), nullable=True),
        sa.Column("last", sa.LargeBinary(), nullable=False),
        sa.Column("last_sha256", sa.String(), nullable=False),
        sa.Column("log", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["training_id"], ["trainings.id"], name=op.f("fk_training_members_training_id")),
        sa.PrimaryKeyConstraint("training_id", "label", name=op.f("pk_training_members")),
    )
    op.create_table(
        "version_weights",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("label", sa.Integer(), nullable=False),
        sa.Column("which", sa.String(), nullable=False),
        sa.Column("weights", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.CheckConstraint("which IN ('best', 'last')", name=op.f("ck_version_weights_which")),
        sa.CheckConstraint("length(sha256) = 64", name=op.f("ck_version_weights_sha256")),
        sa.ForeignKeyConstraint(
            ["version_id", "label"],
            ["version_members.version_id", "version_members.label"],
            name=op.f("fk_version_weights_version_id_label"),
        ),
        sa.PrimaryKeyConstraint("version_id", "label", "which", name=op.f("pk_version_weights")),
    )
    op.create_table(
        "run_closures",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("residual_mm", sa.Double(), nullable=False),
        sa.Column("tolerance_mm", sa.Double(), nullable=False),
        sa.Column("closes", sa.Boolean(), nullable=False),
        sa.CheckConstraint("closes = (abs(residual_mm) <= tolerance_mm)", name=op.f("ck_run_closures_closes")),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_run_closures_run_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "member", name=op.f("pk_run_closures")),
    )
    op.create_table(
        "run_series",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("variable", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("axes", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("dtype", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_run_series_run_id_basin_id"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "variable", name=op.f("pk_run_series")),
    )
    op.create_table(
        "run_ledger",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("amount_mm", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id", "member"],
            ["run_closures.run_id", "run_closures.basin_id", "run_closures.member"],
            name=op.f("fk_run_ledger_run_id_basin_id_member"),
        ),
        sa.PrimaryKeyConstraint("run_id", "basin_id", "member", "term", name=op.f("pk_run_ledger")),
    )


def downgrade() -> None:
    op.drop_table("run_ledger")
    op.drop_table("run_series")
    op.drop_table("run_closures")
    op.drop_table("version_weights")
    op.drop_table("training_members")
    op.drop_table("training_checkpoints")
    with op.batch_alter_table("run_basins", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_run_basins_basin_id"))

    op.drop_table("run_basins")
    op.drop_table("version_members")
    op.drop_table("version_basins")
    op.drop_table("trainings")
    with op.batch_alter_table("states", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_states_basin_id_product_day"))

    op.drop_table("states")
    op.drop_table("snow_cells")
    op.drop_table("series_revisions")
    with op.batch_alter_table("series_arrivals", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_series_arrivals_basin_id_product_variable"))

    op.drop_table("series_arrivals")
    op.drop_table("series")
    op.drop_table("scores")
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_runs_version_id_purpose_t0"))

    op.drop_table("runs")
    with op.batch_alter_table("promotions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_promotions_basin_id"))

    op.drop_table("promotions")
    op.drop_table("basin_texts")
    op.drop_table("basin_quality")
    op.drop_table("basin_attributes")
    op.drop_table("basin_areas")
    op.drop_table("versions")
    op.drop_table("sources")
    op.drop_table("basins")
