"""Scores know how the training used their days; verified forecasts, how many of them are independent."""

import json
from collections.abc import Iterable
from datetime import date
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLES = ("scores", "verification")
USES = "period_use IN ('held out', 'validation', 'training', 'mixed', 'unknown')"
SCORES = "UPDATE scores SET period_use = :use WHERE version_id = :version AND first_day = :first AND last_day = :last"
# From the flow of basins that its training did not have, a version has learnt nothing.
ELSEWHERE = """
UPDATE scores SET period_use = 'held out'
WHERE version_id IN (SELECT version_id FROM version_basins) AND NOT EXISTS (
    SELECT 1 FROM version_basins AS learnt
    WHERE learnt.version_id = scores.version_id AND learnt.basin_id = scores.basin_id
)
"""
# Forecasts of days that took part in the training were never verified.
VERIFIED = "UPDATE verification SET period_use = :use WHERE version_id = :version"


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("period_use", sa.String()))
    op.add_column("verification", sa.Column("independent_issues", sa.Integer()))
    _fill(op.get_bind())
    for table in TABLES:
        with op.batch_alter_table(table) as batch:
            batch.alter_column("period_use", existing_type=sa.String(), nullable=False)
            batch.create_check_constraint(op.f(f"ck_{table}_period_use"), USES)


def downgrade() -> None:
    for table in TABLES:
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(op.f(f"ck_{table}_period_use"), type_="check")
            batch.drop_column("period_use")
    with op.batch_alter_table("verification") as batch:
        batch.drop_column("independent_issues")


def _fill(connection: sa.Connection) -> None:
    rows = connection.execute(sa.text("SELECT id, config, properties FROM versions"))
    trainings = {version: list(_trainings(_object(config), _object(more))) for version, config, more in rows}
    evaluated = sa.text("SELECT DISTINCT version_id, first_day, last_day FROM scores").columns(
        first_day=sa.Date(), last_day=sa.Date()
    )
    for version, first, last in connection.execute(evaluated).all():
        uses = {_use(set(_days(first, last)), *training) for training in trainings[version]}
        use = "unknown" if "unknown" in uses else uses.pop() if len(uses) == 1 else "mixed"
        connection.execute(sa.text(SCORES).bindparams(use=use, version=version, first=first, last=last))
    connection.execute(sa.text(ELSEWHERE))
    for version, of_version in trainings.items():
        known = all(fitted or validated for fitted, validated in of_version)
        use = "held out" if known else "unknown"
        connection.execute(sa.text(VERIFIED), {"use": use, "version": version})


def _trainings(config: dict[str, Any], properties: dict[str, Any]) -> Iterable[tuple[set[int], set[int]]]:
    """Yield the days that weights were fitted to, and those that chose them: of a version or each of its parts."""
    for part in properties.get("parts") or ():
        yield _of_periods(part["fitted"]), _of_periods([part["validation"]])
    if not properties.get("parts"):
        fitted = _of_periods([config.get("train_period")]) - _of_periods([config.get("held_out_period")])
        earlier = (properties.get("tuning") or {}).get("earlier_periods") or ()
        yield fitted | _of_periods(earlier), _of_periods([config.get("validation_period")])


def _use(days: set[int], fitted: set[int], validated: set[int]) -> str:
    if not fitted and not validated:
        return "unknown"
    if days <= fitted:
        return "training"
    if not days & (fitted | validated):
        return "held out"
    return "validation" if days <= validated and not days & fitted else "mixed"


def _of_periods(periods: Iterable[str | None]) -> set[int]:
    return {day for period in periods if period for day in _days(*map(date.fromisoformat, period.split("..")))}


def _days(first: date, last: date) -> range:
    return range(first.toordinal(), last.toordinal() + 1)


def _object(stored: Any) -> dict[str, Any]:
    """Return stored JSON, which one of the databases returns as text."""
    found: dict[str, Any] = json.loads(stored) if isinstance(stored, str) else stored
    return found
