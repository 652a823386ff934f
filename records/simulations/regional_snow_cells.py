"""Snow cells of a version for basins without a reference, chosen over many basins together."""

from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.snow.regional_snow import RegionalSnow
from records.database.json_columns import from_json, to_json
from records.verification.tables import RegionalSnowRow


def get(session: Session, version: str) -> RegionalSnow | None:
    """Return the regional mapping of a version; None if none is stored."""
    row = session.get(RegionalSnowRow, version, populate_existing=True)
    return None if row is None else from_json(RegionalSnow, row.content)


def replace(session: Session, version: str, mapping: RegionalSnow, at: datetime) -> None:
    """Store the regional mapping of a version, replacing the last."""
    session.merge(RegionalSnowRow(version_id=version, content=to_json(mapping), evaluated_at=at))
    session.flush()
