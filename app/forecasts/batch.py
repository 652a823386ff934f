"""The latest forecasts of many basins in one answer, read together."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from app.conditional import entity_tag
from app.forecasts.schemas import Forecast, Forecasts, Lacking
from app.forecasts.service import Kept, NoArea, Representation, identity, kept_of, tell
from hydrology.errors import NotFound, Problem
from records.latest import Latest

MOST_BASINS = 100
Found = Mapping[str, Latest | NotFound]


def tag_of(found: Found, how: Representation) -> str:
    """Return the entity tag: it follows from the runs, and from what is lacking."""
    said = [
        identity(one, how.at) if isinstance(one, Latest) else (basin, one.kind, str(one))
        for basin, one in found.items()
    ]
    return entity_tag(how.units, how.members, said)


def tell_many(session: Session, found: Found, how: Representation) -> Forecasts:
    """Return the answer. A basin whose run names no area has no flows: it is among those without."""
    latest = [one for one in found.values() if isinstance(one, Latest)]
    told = _told(latest, kept_of(session, latest, how.members), how)
    lacking: dict[str, Problem] = {basin: one for basin, one in found.items() if isinstance(one, Problem)}
    lacking |= {basin: one for basin, one in told.items() if isinstance(one, Problem)}
    return Forecasts(
        forecasts=[one for one in told.values() if isinstance(one, Forecast)],
        without=[
            Lacking(basin=basin, type=f"/problems/{lacking[basin].kind}", reason=str(lacking[basin]))
            for basin in found
            if basin in lacking
        ],
    )


def _told(latest: Sequence[Latest], kept: Sequence[Kept], how: Representation) -> dict[str, Forecast | NoArea]:
    told: dict[str, Forecast | NoArea] = {}
    for one, of_one in zip(latest, kept, strict=True):
        try:
            told[one.basin.basin_id] = tell(one, of_one, how)
        except NoArea as error:
            told[one.basin.basin_id] = error
    return told
