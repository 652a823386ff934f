"""/basins/{basin}/adjust, /basins/{basin}/adjusted, /adjustments/{adjustment} and /held: what forecasters decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.adjustments import service
from app.adjustments.endpoints import AdjustmentId
from app.adjustments.schemas import AdjustedForecast, HeldAlerts
from app.forecasts import lookup
from app.http.api_keys import ForecasterReader
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.pages.errors import PageRoute
from app.pages.figures import Figure
from app.pages.figures.adjusted import beside_issued
from app.pages.forms import FormField, form_of
from app.pages.render import render
from hydrology.base.absent import Absent
from hydrology.base.calendar import as_date
from jobspec.changes import HeldRuling, NewAdjustment, Publication
from records.adjustments import adjustments
from records.adjustments.adjustments import NotAdjusted
from records.adjustments.level_chances import read_chances
from records.alerts import held_alerts
from records.alerts.alerts import LevelChance
from records.basins import basins
from records.basins.station_names import shown_name
from records.runs.run_types import Run

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class NewAdjustmentPage:
    """Contents of the form: the run, and the levels whose chances can be set."""

    basin: str
    title: str
    run: Run
    levels: Sequence[LevelChance]
    form: Sequence[FormField]

    @property
    def t0(self) -> date:
        """The run's."""
        return as_date(self.run.t0)


@dataclass(frozen=True, slots=True)
class AdjustedPage:
    """Contents of the page of an adjustment; `public`: whether it is the one for all readers."""

    title: str
    shown: AdjustedForecast
    figure: Figure
    public: bool

    @property
    def unit(self) -> str:
        """Of discharge."""
        return self.figure.unit

    @property
    def form(self) -> list[FormField]:
        """The form of a publication."""
        return form_of(Publication)


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Contents of the page of alerts that wait."""

    held: Sequence[HeldAlerts]
    names: dict[str, str]

    @property
    def note_help(self) -> str:
        """Help text of the note."""
        return str(HeldRuling.model_fields["note"].description)


@router.get("/basins/{basin}/adjust", response_class=HTMLResponse)
def read_new_adjustment(
    request: Request, session: Reading, clock: ServiceClock, basin: BasinId, run: ChosenRun = None
) -> HTMLResponse:
    """Show the form of an adjustment of the latest forecast, or of a given run."""
    chosen, _ = lookup.chosen(session, run, basin, clock.now())
    chances = read_chances(session, chosen.run, chosen.basin, None).chances
    levels = [] if isinstance(chances, Absent) else chances
    form = [field for field in form_of(NewAdjustment) if field.name not in ("run", "chances")]
    title = shown_name(basin, basins.get(session, basin).name)
    return render(request, "adjust.html", NewAdjustmentPage(basin, title, chosen.run, levels, form))


@router.get("/adjustments/{adjustment}", response_class=HTMLResponse)
def read_adjustment_page(
    request: Request, session: Reading, _key: ForecasterReader, adjustment: AdjustmentId
) -> HTMLResponse:
    """Show an adjustment to forecasters, with the means to publish it."""
    return _adjusted(request, session, adjustments.get(session, adjustment), public=False)


@router.get("/basins/{basin}/adjusted", response_class=HTMLResponse)
def read_adjusted_page(
    request: Request, session: Reading, clock: ServiceClock, basin: BasinId, run: ChosenRun = None
) -> HTMLResponse:
    """Show the published adjustment of the latest forecast, or of a given run."""
    chosen, _ = lookup.chosen(session, run, basin, clock.now())
    published = adjustments.published(session, chosen.run.id, basin)
    if published is None:
        raise NotAdjusted(f"Nobody has published an adjustment of run {chosen.run.id} for {basin}.")
    return _adjusted(request, session, published, public=True)


@router.get("/held", response_class=HTMLResponse)
def read_held(request: Request, session: Reading, clock: ServiceClock, _key: ForecasterReader) -> HTMLResponse:
    """Show the changes of alerts that wait for approval."""
    held = [service.held(session, one, clock.today()) for one in held_alerts.page(session)]
    sites = basins.sites(session, [one.basin for one in held])
    names = {basin: shown_name(basin, site.name) for basin, site in sites.items()}
    return render(request, "work/held.html", HeldPage(held, names))


def _adjusted(request: Request, session: Reading, stored: adjustments.Adjustment, *, public: bool) -> HTMLResponse:
    shown = service.adjusted_forecast(session, stored)
    title = shown_name(shown.basin, basins.get(session, shown.basin).name)
    page = AdjustedPage(title, shown, beside_issued(shown), public)
    return render(request, "adjusted.html", page)
