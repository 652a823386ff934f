"""What a member's store leaves unexplained since it was empty, kept as JSON with the ledger of a run."""

from dataclasses import dataclass

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceEmpty:
    """The ledger from the empty store to T0, in short.

    Attributes:
        residual_mm: precipitation - discharge - loss - storage.
        precipitation_mm: what it is held against (`hydrology.water.ledger.WATER_SINCE_EMPTY`).
    """

    __pydantic_config__ = CLOSED

    residual_mm: float
    precipitation_mm: float

    @property
    def relative(self) -> float:
        """The residual over the precipitation; 0 where there has been none."""
        return self.residual_mm / self.precipitation_mm if self.precipitation_mm else 0.0
