"""The latest forecasts of many basins in one answer, read together."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from app.conditional import entity_tag
from app.forecasts.discharge import NoArea, Representation
from app.forecasts.schemas import BasinForecast, BasinForecasts, WithoutForecast
from app.forecasts.service import StoredParts, basin_forecast, identity, stored_parts
from hydrology.errors import NotFound, Problem
from records.latest import Latest

MOST_BASINS = 100
MOST_MEMBER_VALUES = 500_000
"""So much discharge of members at most is in one answer."""
ByBasin = Mapping[str, Latest | NotFound]
"""The latest forecast of each basin, or why it has none."""


def tag_of(by_basin: ByBasin, representation: Representation) -> str:
    """Return the entity tag: it follows from the runs, and from what is lacking."""
    parts = [
        identity(latest, representation.at) if isinstance(latest, Latest) else (basin, latest.kind, str(latest))
        for basin, latest in by_basin.items()
    ]
    return entity_tag(representation.units, representation.members, parts)


def too_much(by_basin: ByBasin) -> str | None:
    """Say that all members of these runs are more than one answer holds; None where they are not."""
    stored = [latest for latest in by_basin.values() if isinstance(latest, Latest)]
    values = sum(
        len(latest.run.members) * (latest.basin.summary.traces or 1) * latest.run.horizon_days for latest in stored
    )
    if values <= MOST_MEMBER_VALUES:
        return None
    return (
        f"the members of these basins are {values} values, and one answer holds at most {MOST_MEMBER_VALUES}: ask for "
        "fewer basins"
    )


def basin_forecasts(session: Session, by_basin: ByBasin, representation: Representation) -> BasinForecasts:
    """Return the answer. A basin whose run names no area has no flows: it is among those without."""
    stored = [latest for latest in by_basin.values() if isinstance(latest, Latest)]
    answers = _answers(stored, stored_parts(session, stored, representation.members), representation)
    outcomes: dict[str, BasinForecast | Problem] = {
        basin: answers[basin] if isinstance(latest, Latest) else latest for basin, latest in by_basin.items()
    }
    return BasinForecasts(
        forecasts=[outcome for outcome in outcomes.values() if isinstance(outcome, BasinForecast)],
        without=[
            WithoutForecast(basin=basin, type=f"/problems/{outcome.kind}", reason=str(outcome))
            for basin, outcome in outcomes.items()
            if isinstance(outcome, Problem)
        ],
    )


def _answers(
    stored: Sequence[Latest], parts: Sequence[StoredParts], representation: Representation
) -> dict[str, BasinForecast | NoArea]:
    answers: dict[str, BasinForecast | NoArea] = {}
    for latest, of_basin in zip(stored, parts, strict=True):
        try:
            answers[latest.basin.basin_id] = basin_forecast(latest, of_basin, representation)
        except NoArea as error:
            answers[latest.basin.basin_id] = error
    return answers
