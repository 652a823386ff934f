"""Store every version of a rating, those that wait for agreement, and official categories as they were."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

KINDS: dict[str, Any] = {
    "text": sa.String(),
    "real": sa.Double(),
    "day": sa.Date(),
    "instant": sa.DateTime(timezone=True),
}
KINDS |= {"json": sa.JSON(), "integer": sa.Integer()}
COLUMNS = (
    "basin_id text, valid_from day, source text, datum text?, site text?, number text?, shifted text?, "
    "largest_shift real, rating json, set_at instant"
)
VERSIONS = "version integer, in_force instant?, held text?, ruling text?, ruled_by text?, ruled_at instant?, note text?"
CATEGORIES = (
    "basin_id text, name text, until instant, discharge real?, direction text, set_at instant, category text?, "
    "source text?, source_day day?, official_stage real?, official_flow real?, impact text?, instruction text?, "
    "confirmed real?"
)
NAMES = [one.split()[0] for one in COLUMNS.split(", ")]
OLD = sa.table("ratings", *map(sa.column, NAMES))
NEW = sa.table("rating_versions", *map(sa.column, ["version", "in_force", *NAMES]))


def upgrade() -> None:
    op.create_table(
        "former_categories",
        *_columns(CATEGORIES),
        sa.CheckConstraint(
            "category IN ('action', 'minor', 'moderate', 'major')", name=op.f("ck_former_categories_category")
        ),
        sa.CheckConstraint("direction IN ('rising', 'falling')", name=op.f("ck_former_categories_direction")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_former_categories_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", "until", name=op.f("pk_former_categories")),
    )
    ruled = "(ruling IS NULL) = (ruled_by IS NULL) AND (ruling IS NULL) = (ruled_at IS NULL)"
    op.create_table(
        "rating_versions",
        *_columns(f"{VERSIONS}, {COLUMNS}"),
        sa.CheckConstraint("ruling IN ('approve', 'dismiss')", name=op.f("ck_rating_versions_ruling")),
        sa.CheckConstraint(ruled, name=op.f("ck_rating_versions_ruled")),
        sa.CheckConstraint("in_force IS NOT NULL OR held IS NOT NULL", name=op.f("ck_rating_versions_held")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_rating_versions_basin_id")),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_rating_versions")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_rating_versions_basin_id_valid_from"), "rating_versions", ["basin_id", "valid_from"])
    stored = sa.select(*(OLD.c[name] for name in NAMES), OLD.c.set_at).order_by(OLD.c.set_at)
    op.execute(sa.insert(NEW).from_select([*NAMES, "in_force"], stored))
    op.drop_table("ratings")


def downgrade() -> None:
    op.create_table(
        "ratings",
        *_columns(COLUMNS),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_ratings_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "valid_from", name=op.f("pk_ratings")),
    )
    used = sa.select(sa.func.max(NEW.c.version)).where(NEW.c.in_force.is_not(None))
    newest = sa.select(*(NEW.c[name] for name in NAMES)).where(
        NEW.c.version.in_(used.group_by(NEW.c.basin_id, NEW.c.valid_from))
    )
    op.execute(sa.insert(OLD).from_select(NAMES, newest))
    op.drop_table("rating_versions")
    op.drop_table("former_categories")


def _columns(described: str) -> Iterator[sa.Column[Any]]:
    for name, kind in (one.split() for one in described.split(", ")):
        yield sa.Column(name, KINDS[kind.rstrip("?")], nullable=kind.endswith("?"))
