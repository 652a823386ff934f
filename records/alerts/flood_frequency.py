"""How the floods of each basin's record are analysed."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.extremes.expected_moments import RegionalSkew
from hydrology.extremes.thresholds import BY_DEFAULT, FloodFrequency
from jobspec.thresholds import FloodFrequencySettings
from records.alerts.tables import FloodFrequencyRow
from records.basins import basins
from records.database.statements import as_record


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFloodFrequency:
    """The stored settings of a basin.

    Attributes:
        set_at: when they were last changed, by the service's clock; None where they are the default.
    """

    regional_skew: float | None
    regional_skew_error: float | None
    trend_adjusted: bool
    set_at: datetime | None

    def as_asked(self) -> FloodFrequency:
        """Return them as the computation takes them."""
        if self.regional_skew is None or self.regional_skew_error is None:
            return FloodFrequency(None, self.trend_adjusted)
        return FloodFrequency(RegionalSkew(self.regional_skew, self.regional_skew_error), self.trend_adjusted)


def get(session: Session, basin: str) -> StoredFloodFrequency:
    """Return the settings of a basin; the defaults where none are stored."""
    row = session.get(FloodFrequencyRow, basin)
    if row is None:
        return StoredFloodFrequency(
            regional_skew=None, regional_skew_error=None, trend_adjusted=BY_DEFAULT.trend_adjusted, set_at=None
        )
    return as_record(StoredFloodFrequency, row)


def put(session: Session, basin: str, new: FloodFrequencySettings, at: datetime) -> bool:
    """Set them; return whether that changed anything.

    Raises:
        UnknownBasin: there is no such basin.
    """
    basins.lock(session, basin)
    before = get(session, basin)
    if FloodFrequencySettings.model_validate({name: getattr(before, name) for name in type(new).model_fields}) == new:
        return False
    session.merge(FloodFrequencyRow(basin_id=basin, set_at=at, **new.model_dump()))
    session.flush()
    return True
