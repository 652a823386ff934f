"""Selects the basins of an answer about many."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.basins.filters import corners
from app.forecasts.batch import MAX_BASINS
from app.http.discharge_units import refused
from records.basins import basins


def selected(session: Session, named: Sequence[str] | None, huc: str | None, bbox: str | None) -> Sequence[str]:
    """Return the named basins, those in a hydrologic unit or box, or all.

    Raises:
        InvalidRequest: basins are both named and chosen by place, or exceed one answer's limit.
    """
    if named is not None:
        if huc is not None or bbox is not None:
            raise refused("basins", "either name basins, or choose them by huc and bbox: leave one of the two out.")
        return named
    chosen = basins.chosen(session, huc=huc, box=None if bbox is None else corners(bbox))
    if len(chosen) > MAX_BASINS:
        detail = f"these are {len(chosen)} basins, and one answer holds at most {MAX_BASINS}"
        raise refused("basins", f"{detail}: choose a part of them by huc or bbox, or name them.")
    return chosen
