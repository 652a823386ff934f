"""alerts and webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("basins", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("least_severity", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("rotated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "least_severity IN ('advisory', 'watch', 'warning')", name=op.f("ck_subscriptions_least_severity")
        ),
        sa.CheckConstraint("generation > 0", name=op.f("ck_subscriptions_generation")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
    )
    op.create_index(op.f("ix_subscriptions_key_id"), "subscriptions", ["key_id"], unique=False)
    op.create_table(
        "alert_basins",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("t0", sa.Date(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_days", sa.Integer(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_alert_basins_basin_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_alert_basins_run_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_alert_basins_version_id")),
        sa.PrimaryKeyConstraint("basin_id", name=op.f("pk_alert_basins")),
    )
    op.create_table(
        "alert_changes",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("direction", sa.String(), nullable=True),
        sa.Column("discharge", sa.Double(), nullable=True),
        sa.Column("severity", sa.String(), nullable=True),
        sa.Column("severity_before", sa.String(), nullable=True),
        sa.Column("chance", sa.Double(), nullable=True),
        sa.Column("chance_before", sa.Double(), nullable=True),
        sa.Column("trend", sa.String(), nullable=True),
        sa.Column("window_days", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("t0", sa.Date(), nullable=True),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.CheckConstraint("(kind = 'promotion') = (run_id IS NULL)", name=op.f("ck_alert_changes_run")),
        sa.CheckConstraint("direction IN ('rising', 'falling')", name=op.f("ck_alert_changes_direction")),
        sa.CheckConstraint(
            "kind IN ('begins', 'rises', 'falls', 'ends', 'level', 'undecided', 'decided', 'promotion')",
            name=op.f("ck_alert_changes_kind"),
        ),
        sa.CheckConstraint("severity IN ('advisory', 'watch', 'warning')", name=op.f("ck_alert_changes_severity")),
        sa.CheckConstraint(
            "severity_before IN ('advisory', 'watch', 'warning')", name=op.f("ck_alert_changes_severity_before")
        ),
        sa.CheckConstraint("trend IN ('rising', 'steady', 'falling')", name=op.f("ck_alert_changes_trend")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_alert_changes_basin_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_alert_changes_run_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_alert_changes_version_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_alert_changes")),
        sa.UniqueConstraint("id", name=op.f("uq_alert_changes_id")),
        sa.UniqueConstraint("key", name=op.f("uq_alert_changes_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_alert_changes_basin_id_seq"), "alert_changes", ["basin_id", "seq"], unique=False)
    op.create_table(
        "alerts",
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=True),
        sa.Column("return_period_years", sa.Integer(), nullable=True),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("discharge", sa.Double(), nullable=False),
        sa.Column("chance", sa.Double(), nullable=False),
        sa.Column("trend", sa.String(), nullable=True),
        sa.Column("severity", sa.String(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("switches", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.CheckConstraint("direction IN ('rising', 'falling')", name=op.f("ck_alerts_direction")),
        sa.CheckConstraint("severity IN ('advisory', 'watch', 'warning')", name=op.f("ck_alerts_severity")),
        sa.CheckConstraint("trend IN ('rising', 'steady', 'falling')", name=op.f("ck_alerts_trend")),
        sa.CheckConstraint("(severity IS NULL) = (since IS NULL)", name=op.f("ck_alerts_since")),
        sa.CheckConstraint("chance BETWEEN 0 AND 1", name=op.f("ck_alerts_chance")),
        sa.ForeignKeyConstraint(["basin_id"], ["alert_basins.basin_id"], name=op.f("fk_alerts_basin_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_alerts_run_id")),
        sa.PrimaryKeyConstraint("basin_id", "level", name=op.f("pk_alerts")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("subscription_id", sa.String(), nullable=False),
        sa.Column("change_seq", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name=op.f("ck_deliveries_ended")),
        sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name=op.f("ck_deliveries_status")),
        sa.ForeignKeyConstraint(["change_seq"], ["alert_changes.seq"], name=op.f("fk_deliveries_change_seq")),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscriptions.id"], name=op.f("fk_deliveries_subscription_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("subscription_id", "change_seq", name=op.f("uq_deliveries_subscription_id_change_seq")),
    )
    op.create_index(op.f("ix_deliveries_status_next_at"), "deliveries", ["status", "next_at"], unique=False)
    op.create_table(
        "delivery_attempts",
        sa.Column("delivery_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.CheckConstraint("status_code IS NULL OR ended_at IS NOT NULL", name=op.f("ck_delivery_attempts_answer")),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["deliveries.id"], name=op.f("fk_delivery_attempts_delivery_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("delivery_id", "number", name=op.f("pk_delivery_attempts")),
    )


def downgrade() -> None:
    op.drop_table("delivery_attempts")
    op.drop_index(op.f("ix_deliveries_status_next_at"), table_name="deliveries")
    op.drop_table("deliveries")
    op.drop_table("alerts")
    op.drop_index(op.f("ix_alert_changes_basin_id_seq"), table_name="alert_changes")
    op.drop_table("alert_changes")
    op.drop_table("alert_basins")
    op.drop_index(op.f("ix_subscriptions_key_id"), table_name="subscriptions")
    op.drop_table("subscriptions")
