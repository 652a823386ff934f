"""the newest run of each basin in a row of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_NEWEST = """
INSERT INTO newest_runs (version_id, basin_id, which, run_id, t0, issued_at, available_at)
SELECT version_id, basin_id, '{which}', run_id, t0, issued_at, available_at
FROM (
    SELECT runs.version_id, run_basins.basin_id, run_basins.run_id, runs.t0, runs.issued_at, runs.available_at,
           ROW_NUMBER() OVER (
               PARTITION BY runs.version_id, run_basins.basin_id
               ORDER BY runs.t0 DESC, runs.issued_at DESC, runs.id DESC
           ) AS place
    FROM run_basins JOIN runs ON runs.id = run_basins.run_id
    WHERE runs.purpose = 'operational' AND {condition}
) AS ranked
WHERE place = 1
"""


def upgrade() -> None:
    op.create_table(
        "newest_runs",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("which", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("t0", sa.Date(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("which IN ('tried', 'latest')", name=op.f("ck_newest_runs_which")),
        sa.ForeignKeyConstraint(
            ["run_id", "basin_id"],
            ["run_basins.run_id", "run_basins.basin_id"],
            name=op.f("fk_newest_runs_run_id_basin_id"),
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_newest_runs_version_id")),
        sa.PrimaryKeyConstraint("version_id", "basin_id", "which", name=op.f("pk_newest_runs")),
    )
    op.execute(_NEWEST.format(which="tried", condition="true"))
    issued = "run_basins.status = 'issued' AND COALESCE(run_basins.spin_up_days, 366) > 365"
    op.execute(_NEWEST.format(which="latest", condition=issued))


def downgrade() -> None:
    op.drop_table("newest_runs")
