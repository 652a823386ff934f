"""Store every version of a rating, those that wait for a forecaster, and official categories as they were."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

KINDS: dict[str, Any] = {"text": sa.String(), "real": sa.Double(), "day": sa.Date(), "integer": sa.Integer()}
KINDS |= {"instant": sa.DateTime(timezone=True)}
CATEGORIES = (
    "basin_id text, name text, until instant, direction text, set_at instant, discharge real?, category text?, "
    "source text?, source_day day?, official_stage real?, official_flow real?, impact text?, instruction text?, "
    "confirmed real?"
)
ADDED = "version integer?, in_force instant?, held text?, ruling text?, ruled_by text?, note text?"
CATEGORY = "category IN ('action', 'minor', 'moderate', 'major')"
CHECKS = {"ruled": "(ruling IS NULL) = (ruled_by IS NULL)", "ruling": "ruling IN ('approve', 'dismiss')"}
NUMBERED = """UPDATE ratings SET in_force = set_at, version = (SELECT COUNT(*) FROM ratings AS other
    WHERE other.basin_id = ratings.basin_id AND other.valid_from <= ratings.valid_from)"""
REPLACED = """DELETE FROM ratings WHERE in_force IS NULL OR EXISTS (SELECT 1 FROM ratings AS other
    WHERE other.basin_id = ratings.basin_id AND other.valid_from = ratings.valid_from
    AND other.in_force IS NOT NULL AND other.version > ratings.version)"""


def upgrade() -> None:
    op.create_table(
        "former_categories",
        *_columns(CATEGORIES),
        sa.CheckConstraint(CATEGORY, name=op.f("ck_former_categories_category")),
        sa.CheckConstraint("direction IN ('rising', 'falling')", name=op.f("ck_former_categories_direction")),
        sa.ForeignKeyConstraint(["basin_id"], ["basins.id"], name=op.f("fk_former_categories_basin_id")),
        sa.PrimaryKeyConstraint("basin_id", "name", "until", name=op.f("pk_former_categories")),
    )
    with op.batch_alter_table("ratings") as table:
        for column in _columns(ADDED):
            table.add_column(column)
    op.execute(NUMBERED)
    with op.batch_alter_table("ratings") as table:
        table.alter_column("version", existing_type=sa.Integer(), nullable=False)
        table.drop_constraint(op.f("pk_ratings"), type_="primary")
        table.create_primary_key(op.f("pk_ratings"), ["basin_id", "version"])
        for name, check in CHECKS.items():
            table.create_check_constraint(op.f(f"ck_ratings_{name}"), check)


def downgrade() -> None:
    op.execute(REPLACED)
    with op.batch_alter_table("ratings") as table:
        for name in CHECKS:
            table.drop_constraint(op.f(f"ck_ratings_{name}"), type_="check")
        table.drop_constraint(op.f("pk_ratings"), type_="primary")
        table.create_primary_key(op.f("pk_ratings"), ["basin_id", "valid_from"])
        for column in _columns(ADDED):
            table.drop_column(column.name)
    op.drop_table("former_categories")


def _columns(described: str) -> Iterator[sa.Column[Any]]:
    for name, kind in (one.split() for one in described.split(", ")):
        yield sa.Column(name, KINDS[kind.rstrip("?")], nullable=kind.endswith("?"))
