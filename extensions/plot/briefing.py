"""A basin's hydrograph as a picture for a briefing: the figure of its page, with all that it has to state by itself."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.pages.basin_figures import figures_of, or_reason
from app.pages.figures import Figure
from app.pages.render import day_and_time, in_full
from hydrology.base.errors import DataProblem
from hydrology.base.units import Units
from records.basins import basins
from records.basins.ownership import station_name

UNOFFICIAL = "Not an official warning."


@dataclass(frozen=True, slots=True)
class Briefing:
    """A figure with its title, the day that its forecast starts from, and its caveats.

    Attributes:
        sources: origin of the numbers, and whether they are an official warning; a sentence each.
    """

    figure: Figure
    title: str
    issue: str
    sources: tuple[str, ...]


def briefing(
    session: Session, basin: str, run: str | None, now: datetime, units: Units, *, days: int, official: bool
) -> Briefing:
    """Return the briefing of the latest forecast, or of a run; `official` where the service has an official sender."""
    figures = figures_of(session, basin, run, now, units, past_days=days)
    forecast, found = figures.forecast, figures.found
    figure = figures.hydrograph(or_reason(figures.normals))
    if figure.reason is not None:
        raise DataProblem(f"Run {forecast.run} has no forecast of {basin} to draw: {figure.reason}")
    issue = f"Forecast from T0 {in_full(forecast.t0)}, issued {day_and_time(forecast.issued_at)}"
    name = station_name(basins.get(session, basin).name or "")
    state, reason = found.freshness.state, found.freshness.reason
    providers = (forecast.product_credit, forecast.weather)
    sources = (
        f"No current forecast: {reason}" if run is None and state != "fresh" else "",
        figure.note,
        f"Source: Freshet, version {forecast.version}, run {forecast.run}; weather {forecast.product}.",
        *(provider.credit for provider in providers if provider is not None and provider.credit),
        "" if official and found.owner is None else UNOFFICIAL,
    )
    return Briefing(
        figure=figure,
        title=f"{name} ({basin})" if name else basin,
        issue=f"Discharge, {figure.unit}. {issue}",
        sources=tuple(sentence for sentence in sources if sentence),
    )
