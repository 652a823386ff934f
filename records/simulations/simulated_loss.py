"""Simulated water loss of a version in a basin other than by discharge, with potential evapotranspiration."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from records.database.json_columns import CLOSED, from_json
from records.simulations.simulated_storage import why_none
from records.simulations.tables import SimulatedRecordRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLoss:
    """Mean annual loss over the simulated days, mm.

    Attributes:
        members: by member label.
        pet: potential evapotranspiration on the same days (`hydrology.weather.evaporation`).
    """

    __pydantic_config__ = CLOSED

    members: Mapping[str, float]
    pet: float | Absent

    @property
    def mean(self) -> float:
        """The mean of the members."""
        return sum(self.members.values()) / len(self.members)

    @property
    def exceeding(self) -> list[str]:
        """The members that lose more than could evaporate. Empty if that is unknown."""
        return [] if isinstance(self.pet, Absent) else [name for name, loss in self.members.items() if loss > self.pet]


def get(session: Session, version: str, basin: str) -> tuple[Period, SimulatedLoss] | Absent:
    """Return a version's loss in a basin and its days, or a reason."""
    row = session.get(SimulatedRecordRow, (version, basin))
    if row is None or row.loss is None:
        return why_none(version)
    return Period(row.first_day, row.last_day), from_json(SimulatedLoss, row.loss)
