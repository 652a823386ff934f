"""Simulated loss compared with potential evapotranspiration."""

from sqlalchemy.orm import Session

from app.forecasts.water.schemas import LossBesidePet
from app.http.base_schema import Period
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent
from records.simulations import simulated_loss


def loss_beside_pet(session: Session, version: str, basin: str) -> tuple[LossBesidePet | None, dict[str, Absent]]:
    """Return the comparison, and why it or a part of it is null."""
    simulated = simulated_loss.get(session, version, basin)
    if isinstance(simulated, Absent):
        return None, {"loss_beside_pet": simulated}
    period, loss = simulated
    shown = LossBesidePet(
        period=Period.between(period.first, period.last),
        mean=rounded(loss.mean),
        members={label: rounded(lost) for label, lost in loss.members.items()},
        pet=None if isinstance(loss.pet, Absent) else rounded(loss.pet),
        exceeding=loss.exceeding,
    )
    return shown, {"loss_beside_pet.pet": loss.pet} if isinstance(loss.pet, Absent) else {}


def in_words(loss: LossBesidePet) -> str | None:
    """Return a warning if a member loses more than could evaporate."""
    if not loss.exceeding or loss.pet is None:
        return None
    return (
        f"{len(loss.exceeding)} of {len(loss.members)} members lose more here than could evaporate: {loss.mean:.0f} mm "
        f"in the mean of a year and of all members, where {loss.pet:.0f} mm could. A part of that left the basin some "
        "other way, never fell, or is an error."
    )
