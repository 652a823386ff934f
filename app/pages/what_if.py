"""/basins/{basin}/what-if: runs with changed weather or initial water."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.forecasts import lookup
from app.forecasts.discharge import usual_units
from app.forecasts.what_if import WhatIfOfRun, compared_runs
from app.forecasts.words import UNITS, depth, number
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.pages.basin_figures import or_reason
from app.pages.figures import Figure
from app.pages.figures.flow import two_forecasts
from app.pages.render import ChosenUnits, PageRoute, render
from hydrology.base.absent import known
from hydrology.base.errors import counted
from hydrology.base.unit_systems import CHANGE, UnitSystem
from hydrology.base.units import Units
from hydrology.weather.forcing_kinds import KINDS
from jobspec.changes import Increment
from jobspec.fields import ID
from jobspec.jobs.forecasting import WhatIfParams
from records.basins import basins
from records.runs import runs

router = APIRouter(route_class=PageRoute)

ShownRun = Annotated[str | None, Query(description="The run to show.", pattern=ID)]


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider for a change; `start` is its value without one."""

    name: str
    label: str
    unit: str
    lowest: float
    highest: float
    step: float
    size: float = 1
    start: float = 0

    def shown_in(self, units: UnitSystem) -> "Slider":
        """Return the slider in the chosen units, in steps of about the same size; `size` is that of its unit."""
        size = 1 / units.value(1, self.unit)
        step = float(f"{self.step / size:.1g}")
        lowest, highest = (step * int(end / size / step) for end in (self.lowest, self.highest))
        return replace(self, unit=units.name(self.unit), lowest=lowest, highest=highest, step=step, size=size)


SLIDERS = (
    Slider("degrees", "Warmer, or colder", CHANGE, -10, 10, 0.5),
    Slider("precipitation_percent", "More precipitation, or less", "%", -100, 200, 10),
    Slider("storm.mm", "A storm", "mm", 0, 150, 5),
    Slider("increment.mm", "More water in the basin at T0, or less", "mm", -100, 100, 1),
)


@router.get("/basins/{basin}/what-if", response_class=HTMLResponse)
def read_what_if(
    request: Request, session: Reading, clock: ServiceClock, basin: BasinId, chosen: ChosenUnits, run: ShownRun = None
) -> HTMLResponse:
    """Show the form of changes, and the result of the chosen run."""
    title = basins.title(session, basin)
    latest = known(or_reason(lambda: lookup.latest(session, basin, clock.now()).run))
    reported = figure = None
    if run is not None:
        units = usual_units(runs.basin_of(session, run, basin), chosen)
        reported = compared_runs(session, run, basin, units, clock.now())
        figure = compared(reported, units, f"/v1/basins/{basin}/what-if?run={run}&units={units}")
    usual = int(WhatIfParams.model_fields["horizon"].default)
    return render(
        request,
        "what-if.html",
        basin=basin,
        title=title,
        latest=latest,
        shown=reported,
        figure=figure,
        sliders=[slider.shown_in(UnitSystem(chosen)) for slider in SLIDERS],
        places={"all": "everywhere", "snow": "as snow", "other": "besides the snow"},
        place=str(Increment.model_fields["where"].default),
        note_help=WhatIfParams.model_fields["note"].description,
        horizon=usual if latest is None else latest.horizon_days,
        weathers={name: kind.label for name, kind in KINDS.items()},
        difference=None if reported is None else _difference(reported),
        terms=[] if reported is None else _terms(reported),
    )


def _difference(shown: WhatIfOfRun) -> str | None:
    """Return the effect of the changes, in a sentence."""
    difference, ahead = shown.difference, counted(shown.horizon_days, "day")
    if difference is None:
        return None
    if not difference.depth:
        return f"Over {ahead} the same amount of water flows out."
    more = "more" if difference.depth > 0 else "less"
    volume = "" if difference.volume is None else f", {number(abs(difference.volume) / 1e6)} million m³"
    return f"Over {ahead} {depth(abs(difference.depth))} {more} flows out{volume}."


def _terms(shown: WhatIfOfRun) -> list[tuple[str, float | None, float | None]]:
    """Return each term of the water balance without the changes and with them, the mean of the members, mm."""
    sides = (shown.base, shown.changed)
    base, changed = (None if side is None else side.water_balance for side in sides)
    if base is None or changed is None:
        return []
    return [(term, base.mean.get(term), amount) for term, amount in changed.mean.items()]


def compared(shown: WhatIfOfRun, units: Units, call: str) -> Figure:
    """Draw both runs over the days ahead: mean and 5 to 95 % range."""
    figure = Figure(name=f"{shown.basin}-what-if", title="Discharge", unit=UNITS[units], call=call)
    if shown.base is None or shown.changed is None:
        return figure.but(reason=shown.missing["difference"])
    sides = ("without the changes", dict(shown.base.discharge)), ("with them", dict(shown.changed.discharge))
    figure = figure.but(
        note="The mean of the members (and traces), and where nine in ten of them are. They are not calibrated.",
        time=list(shown.time),
    )
    return two_forecasts(figure, *sides, "mean", ("observed", "line"))
