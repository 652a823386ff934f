"""What a version loses in a basin on its past days other than through the river, beside what could have evaporated."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from records.database.json_columns import CLOSED, from_json
from records.simulations.simulated_storage import why_none
from records.simulations.tables import SimulatedRecordRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLoss:
    """The mean of a year of the simulated days, mm.

    Attributes:
        members: by member label.
        pet: potential evapotranspiration on the same days (`hydrology.weather.evaporation`); None for `pet_reason`.
    """

    __pydantic_config__ = CLOSED

    members: Mapping[str, float]
    pet: float | None
    pet_reason: str | None = None

    @property
    def mean(self) -> float:
        """The mean of the members."""
        return sum(self.members.values()) / len(self.members)

    @property
    def exceeding(self) -> list[str]:
        """The members that lose more than could evaporate; none where that is not known."""
        return [] if self.pet is None else [label for label, loss in self.members.items() if loss > self.pet]


def get(session: Session, version: str, basin: str) -> tuple[Period, SimulatedLoss] | str:
    """Return what a version loses in a basin, and on which days; or why that is not known."""
    row = session.get(SimulatedRecordRow, (version, basin))
    if row is None or row.loss is None:
        return why_none(version)
    return Period(row.first_day, row.last_day), from_json(SimulatedLoss, row.loss)
