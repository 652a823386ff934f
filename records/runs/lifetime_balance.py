"""Water balance residual of a member's store since it was empty, stored as JSON with a run's ledger."""

from dataclasses import dataclass

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceEmpty:
    """The balance from the empty store to T0, in short.

    Attributes:
        residual_mm: precipitation - discharge - loss - storage.
        precipitation_mm: its scale (`hydrology.water.ledger.WATER_SINCE_EMPTY`).
    """

    __pydantic_config__ = CLOSED

    residual_mm: float
    precipitation_mm: float

    @property
    def relative(self) -> float:
        """The residual over the precipitation; 0 without precipitation."""
        return self.residual_mm / self.precipitation_mm if self.precipitation_mm else 0.0
