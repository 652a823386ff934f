"""Forecasts side by side: of a few basins; the worst ones of a basin, and what came; its newest ones, by level."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import AfterValidator
from sqlalchemy.orm import Session

from app.forecasts import lookup
from app.forecasts.discharge import usual_units
from app.forecasts.persistence import OfLevel, persistence
from app.forecasts.words import UNITS
from app.forecasts.worst_errors import worst_errors
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from app.pages.basin_facts import Fact, facts_of, start
from app.pages.basin_figures import figures_of, or_reason
from app.pages.figures import Colour, Curve, Figure, on_days
from app.pages.render import ChosenUnits, PageRoute, render
from hydrology.base.absent import Absent
from hydrology.base.units import Units
from jobspec.fields import full_id
from records.basins import basins
from records.verification.error_splits import ErrorFilter

router = APIRouter(route_class=PageRoute)

MAX_WORST = 5
COLOURS: tuple[Colour, ...] = ("snow", "warm", "observed", "storage", "normal", "median")
"""The colour of each basin, the most different ones first; as many can be compared."""
BANDS = (0.9, 0.75, 0.5, 0.25, 0.1)
"""The least chances of the shades of a cell, the darkest first."""
Asked = Annotated[
    list[Annotated[str, AfterValidator(full_id)]],
    Query(description="Identifiers of basins.", min_length=1, max_length=len(COLOURS)),
]


@router.get("/basins/{basin}/persistence", response_class=HTMLResponse)
def read_persistence(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    basin: KnownBasin,
    units: ChosenUnits,
    level: OfLevel = None,
) -> HTMLResponse:
    """Show the chances of a level by the newest forecasts, a row each."""
    now = clock.now()
    of_flow = usual_units(lookup.latest(session, basin, now).basin, units)
    found = persistence(session, basin, level, now, of_flow)
    title = basins.title(session, basin)
    return render(request, "persistence.html", found=found, title=title, unit=UNITS[of_flow], bands=BANDS)


@dataclass(frozen=True, slots=True)
class Column:
    """A basin: its facts and its hydrograph, or the reason why it has none."""

    id: str
    title: str
    facts: Sequence[Fact] | Absent
    figure: Figure | None = None


@router.get("/compare", response_class=HTMLResponse)
def compare(request: Request, session: Reading, clock: ServiceClock, basin: Asked, units: ChosenUnits) -> HTMLResponse:
    columns = [_column(session, one, clock.now(), units) for one in dict.fromkeys(basin)]
    titles = next(([fact.title for fact in c.facts] for c in columns if not isinstance(c.facts, Absent)), [])
    return render(request, "compare.html", columns=columns, titles=titles, figure=_together(columns, units))


@router.get("/basins/{basin}/worst", response_class=HTMLResponse)
def read_worst(
    request: Request, session: Reading, clock: ServiceClock, basin: KnownBasin, units: ChosenUnits
) -> HTMLResponse:
    """Show the forecasts of a basin with the largest errors of volume, each beside the flow that came."""
    errors = worst_errors(session, "volume", ErrorFilter(basin=basin), MAX_WORST)
    now = clock.now()
    figures = [figures_of(session, basin, case.run, now, units).alone() for case in errors.cases]
    title = basins.title(session, basin)
    return render(request, "worst.html", basin=basin, title=title, errors=errors, figures=figures)


def _column(session: Session, basin: str, now: datetime, units: Units) -> Column:
    title = basins.title(session, basin)
    found = or_reason(lambda: figures_of(session, basin, None, now, units))
    if isinstance(found, Absent):
        return Column(basin, title, found)
    return Column(basin, title, [start(found.forecast), *facts_of(found)], found.alone().but(title=title))


def _together(columns: Sequence[Column], units: Units) -> Figure | None:
    """Draw observed flow and medians of several basins, of those that have them in the chosen units."""
    drawn = [(c, c.figure) for c in columns if c.figure is not None and c.figure.unit == UNITS[units] and c.figure.time]
    if len(drawn) < 2:
        return None
    first, last = min(figure.time[0] for _, figure in drawn), max(figure.time[-1] for _, figure in drawn)
    time = [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
    curves = [
        Curve(
            label=column.title if is_median else f"{column.title}, observed",
            values=on_days(time, figure.time, curve.values),
            colour=colour,
            style="line" if is_median else "thin",
            listed=is_median,
        )
        for (column, figure), colour in zip(drawn, COLOURS, strict=False)
        for curve in figure.curves
        for is_median in (curve.colour == "median",)
        if is_median or curve.colour == "observed"
    ]
    t0s = {figure.t0 for _, figure in drawn}
    return Figure(
        name="compared-discharge",
        title="Discharge" if units != "mm/day" else "Discharge per area",
        unit=UNITS[units],
        described="Observed flow and the median forecast of each basin. The values stand behind the call.",
        note="Thin: observed. Thick: the median of the forecast. As depths, small and large basins compare.",
        call=f"/v1/forecasts?units={units}&basins={','.join(column.id for column, _ in drawn)}",
        time=time,
        curves=curves,
        t0=t0s.pop() if len(t0s) == 1 else None,
        log=True,
    )
