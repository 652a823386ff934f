"""comparisons, published scores, and the jobs that make comparisons."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_JOBS = ["ingest", "training", "member", "forecast", "evaluation"]
_KINDS = {"jobs": _JOBS, "schedules": [kind for kind in _JOBS if kind != "member"]}
_NEW = "comparison"


def upgrade() -> None:
    for table, kinds in _KINDS.items():
        _allow(table, kinds, [*kinds, _NEW])
    op.create_table(
        "publications",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("citation", sa.String(), nullable=False),
        sa.Column("file_id", sa.Integer(), nullable=False),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["sources.id"], name=op.f("fk_publications_file_id")),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_publications")),
    )
    op.create_table(
        "published_scores",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("basin_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name=op.f("ck_published_scores_reason")),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_published_scores_order")),
        sa.ForeignKeyConstraint(["source"], ["publications.source"], name=op.f("fk_published_scores_source")),
        sa.PrimaryKeyConstraint(
            "source", "model", "basin_id", "metric", "first_day", "last_day", name=op.f("pk_published_scores")
        ),
    )
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("basins", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("result", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.CheckConstraint("first_day <= last_day", name=op.f("ck_comparisons_order")),
        sa.CheckConstraint("length(fingerprint) = 64", name=op.f("ck_comparisons_fingerprint")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_comparisons_fingerprint")),
    )
    op.create_table(
        "comparison_versions",
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_comparison_versions_position")),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparisons.id"], name=op.f("fk_comparison_versions_comparison_id")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_comparison_versions_version_id")),
        sa.PrimaryKeyConstraint("comparison_id", "position", name=op.f("pk_comparison_versions")),
        sa.UniqueConstraint(
            "comparison_id", "version_id", name=op.f("uq_comparison_versions_comparison_id_version_id")
        ),
    )
    op.create_index(op.f("ix_comparison_versions_version_id"), "comparison_versions", ["version_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_comparison_versions_version_id"), table_name="comparison_versions")
    for table in ("comparison_versions", "comparisons", "published_scores", "publications"):
        op.drop_table(table)
    for table, kinds in _KINDS.items():
        rows = sa.table(table, sa.column("kind", sa.String()))
        op.execute(rows.delete().where(rows.c.kind == _NEW))
        _allow(table, [*kinds, _NEW], kinds)


def _allow(table: str, before: list[str], after: list[str]) -> None:
    """Let the column `kind` hold other words."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint(op.f(f"ck_{table}_kind"), table, type_="check")
        op.create_check_constraint(op.f(f"ck_{table}_kind"), table, _one_of(after))
        return
    # Not as a batch: it drops the table, and with its rows go those that refer to them. SQLite's own way to another
    # check is to write it into the schema (sqlite.org/lang_altertable.html, section 7); the tables that are made or
    # dropped beside it make other connections read the schema anew.
    schema = sa.table("sqlite_master", sa.column("name", sa.String()), sa.column("sql", sa.String()))
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        schema.update()
        .where(schema.c.name == table)
        .values(sql=sa.func.replace(schema.c.sql, _one_of(before), _one_of(after)))
    )
    op.execute("PRAGMA writable_schema = RESET")


def _one_of(kinds: list[str]) -> str:
    return f"kind IN ({', '.join(repr(kind) for kind in kinds)})"
