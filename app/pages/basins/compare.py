"""/compare: T0, the five facts and the flow of a few basins side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import AfterValidator
from sqlalchemy.orm import Session

from app.basins.schemas import basin_detail
from app.forecasts import lookup
from app.forecasts.discharge import Representation, usual_units
from app.forecasts.forecast import BasinForecast, forecast_of
from app.http.dependencies import Reading, ServiceClock
from app.outlooks.service import answer as outlook_answer
from app.pages.basins.facts import Fact, facts_of, start
from app.pages.basins.plots import or_reason
from app.pages.figures import Colour, Curve, Figure, on_days
from app.pages.figures.flow import flow_of
from app.pages.render import PageRoute, render
from hydrology.base.absent import Absent
from hydrology.base.units import Units
from jobspec.fields import full_id
from records.basins.station_names import station_name
from records.forecasts.latest import Latest
from records.outlooks import reader

router = APIRouter(route_class=PageRoute)

COLOURS: tuple[Colour, ...] = ("median", "warm", "storage", "snow", "normal", "observed")
"""The colour of each basin; as many can be compared."""
Asked = Annotated[
    list[Annotated[str, AfterValidator(full_id)]],
    Query(description="Identifiers of basins.", min_length=1, max_length=len(COLOURS)),
]


@dataclass(frozen=True, slots=True)
class Column:
    """A basin: its facts, or the reason why it has none."""

    id: str
    title: str
    facts: Sequence[Fact] | Absent
    forecast: BasinForecast | None


@router.get("/compare", response_class=HTMLResponse)
def compare(request: Request, session: Reading, clock: ServiceClock, basin: Asked) -> HTMLResponse:
    columns = [_column(session, one, clock.now()) for one in dict.fromkeys(basin)]
    titles = next(([fact.title for fact in c.facts] for c in columns if not isinstance(c.facts, Absent)), [])
    return render(request, "compare.html", columns=columns, titles=titles, figure=_figure(columns))


def _column(session: Session, basin: str, now: datetime) -> Column:
    detail = basin_detail(session, basin)
    title = station_name(detail.name) if detail.name else basin
    latest = or_reason(lambda: lookup.latest(session, basin, now))
    if isinstance(latest, Absent):
        return Column(basin, title, latest, None)
    units = usual_units(latest.basin)
    forecast = _forecast(session, latest, now, units)
    found = reader.outlook(session, basin, now, forecast.run)
    no_snow = found.snow if isinstance(found.snow, Absent) else None
    shown = [start(forecast), *facts_of(outlook_answer(session, found, units), forecast, no_snow)]
    return Column(basin, title, shown, _forecast(session, latest, now, "mm/day"))


def _forecast(session: Session, latest: Latest, now: datetime, units: Units) -> BasinForecast:
    return forecast_of(session, latest, Representation(units, members=False, at=now))


def _figure(columns: Sequence[Column]) -> Figure | None:
    """Draw the median of each basin per area, so that small and large ones can be compared."""
    shown = [(column, column.forecast) for column in columns if column.forecast is not None]
    if not shown:
        return None
    time = _days([forecast for _, forecast in shown])
    curves = [
        Curve(label=column.title, values=on_days(time, forecast.time, quantiles["median"]), colour=colour)
        for (column, forecast), colour in zip(shown, COLOURS, strict=False)
        if (quantiles := flow_of(forecast)) is not None
    ]
    call = f"/v1/forecasts?units=mm/day&basins={','.join(column.id for column, _ in shown)}"
    return Figure(
        name="compared-discharge",
        title="Discharge per area",
        unit="mm/day",
        described="The median forecast of each basin, in millimetres over its area. The values stand behind the call.",
        call=call,
        time=time,
        curves=curves,
        log=True,
    )


def _days(shown: Sequence[BasinForecast]) -> list[date]:
    first, last = min(f.time[0] for f in shown), max(f.time[-1] for f in shown)
    return [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
