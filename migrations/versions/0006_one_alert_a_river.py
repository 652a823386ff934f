"""One alert a river: what is sent of a change, and the end of alerts of floods that are for comparison alone."""

import secrets
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WHY = "The floods of a basin are by one method from now on: this one is shown for comparison, and has no alert."


def upgrade() -> None:
    op.add_column("alert_changes", sa.Column("message", sa.String()))
    op.add_column("alert_changes", sa.Column("levels", sa.JSON()))
    op.execute("UPDATE alert_changes SET message = id")
    _end_comparisons(op.get_bind())


def downgrade() -> None:
    op.drop_column("alert_changes", "levels")
    op.drop_column("alert_changes", "message")


def _end_comparisons(connection: sa.Connection) -> None:
    """Remove the levels of the other method: by log-Pearson III unless a regional skew is set.

    The end of an alert is a change of the history that goes to no subscriber. Where no other level of the river has an
    alert, it cancels what was issued in CAP; otherwise the next message of the river takes that over.
    """
    for basin, level, severity, newest, event, others in connection.execute(_COMPARISONS).all():
        named: dict[str, Any] = {"basin": basin, "level": level}
        if severity is not None and newest is not None:
            identifier = f"{event[:12]}{secrets.token_hex(5)}"
            end = {"id": identifier, "message": None if others else identifier, "newest": newest, "why": WHY}
            connection.execute(_END, named | end)
        connection.execute(sa.text("DELETE FROM alerts WHERE basin_id = :basin AND level = :level"), named)


_COMPARISONS = sa.text(
    "SELECT a.basin_id, a.level, a.severity, max(c.seq), max(c.id), max(o.level) FROM alerts a "
    "JOIN (SELECT b.id, CASE WHEN f.regional_skew IS NULL THEN 'lp3-%' ELSE 'gev-%' END AS names FROM basins b "
    "LEFT JOIN flood_frequency f ON f.basin_id = b.id) compared ON compared.id = a.basin_id "
    "LEFT JOIN alert_changes c ON c.basin_id = a.basin_id AND c.level = a.level "
    "LEFT JOIN alerts o ON o.basin_id = a.basin_id AND o.direction = a.direction AND o.severity IS NOT NULL "
    "AND (o.kind IS NULL OR o.level NOT LIKE compared.names) "
    "WHERE a.kind = 'flood' AND a.level LIKE compared.names "
    "GROUP BY a.basin_id, a.level, a.severity ORDER BY a.basin_id, a.level"
)
_END = sa.text(
    "INSERT INTO alert_changes (id, key, message, kind, at, basin_id, level, direction, discharge, stage, "
    "severity_before, chance, window_days, run_id, t0, version_id, why, replayed, sender, owner) "
    "SELECT :id, :id, :message, 'level', b.decided_at, a.basin_id, a.level, a.direction, a.discharge, c.stage, "
    "a.severity, a.chance, b.window_days, b.run_id, b.t0, b.version_id, :why, c.replayed, c.sender, c.owner "
    "FROM alerts a JOIN alert_basins b ON b.basin_id = a.basin_id JOIN alert_changes c ON c.seq = :newest "
    "WHERE a.basin_id = :basin AND a.level = :level"
)
