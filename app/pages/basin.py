"""/basins/{basin}: five facts, forecast, levels, water and skill of a basin."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from app.alerts import schemas as alert_answers
from app.basins.schemas import basin_detail
from app.basins.thresholds import estimated_signatures
from app.feeds import holes as holes_of
from app.forecasts.changes import change_of
from app.forecasts.discharge import WithMembers
from app.forecasts.rain_margin import LevelMargin, RainMarginOfRun, rain_margin_of_run
from app.forecasts.volumes import volumes_of_run
from app.forecasts.water.balances import in_words as loss_in_words
from app.forecasts.water.balances import loss_beside_pet
from app.forecasts.words import UNITS
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.pages.basin_facts import by_months, facts_of, shown_scores, verified_rows
from app.pages.basin_figures import BasinFigures, figures_of, or_reason, runs_around
from app.pages.figures.flow import flow_of
from app.pages.render import ChosenUnits, PageRoute, render
from app.versions.schemas import version_detail
from app.versions.scores import basin_skill
from app.versions.verification import verified_in
from hydrology.base.absent import Absent
from hydrology.base.basins import TIME_ZONE
from hydrology.base.calendar import day
from hydrology.extremes.levels import OF_MODEL
from hydrology.extremes.rain_margin import RAIN_MM
from hydrology.verification.held_out_years import HELD_OUT
from hydrology.verification.results import ALL_YEAR
from jobspec.extensions import extensions
from records.basins.ownership import shown_name
from records.feeds import feeds
from records.forecasts import volumes_and_recessions
from records.outlooks import reader

router = APIRouter(route_class=PageRoute)

PastDays = Literal["14", "30", "90", "365"]
Drawn = Annotated[list[str], Query(description="What to draw beside the forecast, of what the page offers.")]
Days = Annotated[PastDays, Query(description="Number of days before T0 in the plots.")]
CAUSES: Mapping[str, str] = {
    "revised_data": "revised data",
    "observed_weather": "weather that came",
    "weather_forecast": "new weather forecast",
    "model_version": "model version",
    "observed_flow": "observed flow",
}
PERIODS: Mapping[PastDays, str] = {"14": "14 days", "30": "30 days", "90": "90 days", "365": "a year"}


@router.get("/basins/{basin}", response_class=HTMLResponse)
def read_basin(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    chosen: ChosenUnits,
    run: ChosenRun = None,
    members: WithMembers = False,
    days: Days = "14",
    drawn: Drawn = [],  # noqa: B006
) -> HTMLResponse:
    """Show a basin by its latest forecast, or by a given run."""
    now = clock.now()
    detail = basin_detail(session, basin)
    figures = or_reason(
        lambda: figures_of(session, basin, run, now, chosen, past_days=int(days), members=members, drawn=drawn)
    )
    found = reader.outlook(session, basin, now) if isinstance(figures, Absent) else figures.found
    alerts = alert_answers.of_basin(session, basin, day(now.date()))
    holes = feeds.holes_of_basin(session, basin)
    return render(
        request,
        "basin.html",
        detail=detail,
        title=shown_name(basin, detail.name),
        shown=figures if isinstance(figures, Absent) else _part(figures),
        picture=next((one.hydrograph for one in extensions() if one.hydrograph is not None), None),
        time_zone=detail.texts.get(TIME_ZONE),
        freshness=None if run is not None else found.freshness,
        units=chosen if isinstance(figures, Absent) else figures.units,
        every_unit=UNITS,
        members=members,
        drawn=drawn,
        days=days,
        periods=PERIODS,
        alerts=alerts,
        severities={alert.level: alert.severity for alert in alerts.levels if alert.severity is not None},
        holes=[one for feed, found in holes.items() for one in holes_of(feed, basin, found)],
    )


def _part(figures: BasinFigures) -> SimpleNamespace:
    """Return the contents that follow a forecast; a reason in place of those that lack."""
    session, latest, forecast, outlook = figures.session, figures.latest, figures.forecast, figures.outlook
    basin, version, now, units = forecast.basin, forecast.version, figures.now, figures.units
    earlier, later = runs_around(session, latest, now)
    skill = or_reason(lambda: basin_skill(session, basin, version, use=HELD_OUT))
    scores = [] if isinstance(skill, Absent) else shown_scores(session, skill)
    verified = or_reason(lambda: verified_in(session, basin, version, ALL_YEAR)[1])
    calibrated = verified_rows(verified, outlook)
    margins = or_reason(lambda: rain_margin_of_run(session, latest, now, units, None))
    levels = sorted(outlook.threat.levels or (), key=lambda level: (-level.chance, level.discharge))
    loss, balance = loss_beside_pet(session, version, basin), forecast.water_balance
    return SimpleNamespace(
        forecast=forecast,
        flows=flow_of(forecast),
        outlook=outlook,
        earlier=earlier,
        later=later,
        facts=facts_of(figures),
        figures=figures.build(),
        drawable=[*figures.drawable],
        levels=levels,
        signatures=estimated_signatures(session, basin, units),
        rated=any(level.stage.ft is not None for level in levels),
        volumes=or_reason(
            lambda: volumes_of_run(session, volumes_and_recessions.newest(session, basin, now), None, now)
        ),
        skill=skill,
        scores=scores,
        shipped_skill=any(score.shipped for score in scores),
        skill_by_lead=verified,
        calibrated_leads=calibrated,
        skilful_months=by_months(calibrated),
        changes=or_reason(lambda: change_of(session, latest, now, units)),
        causes=CAUSES,
        rain_margin=margins,
        margins=_of_floods(margins),
        most_rain=RAIN_MM[-1],
        model=version_detail(session, version),
        balance_terms=[] if balance is None else [(_term(name, mm), mm) for name, mm in balance.mean.items()],
        loss=None if isinstance(loss, Absent) else loss_in_words(loss),
    )


def _of_floods(answer: RainMarginOfRun | Absent) -> list[LevelMargin]:
    """Return the flood levels of the record and of operators with rain margins."""
    levels = None if isinstance(answer, Absent) else answer.levels
    return [level for level in levels or () if level.windows and not (level.name or "").startswith(OF_MODEL)]


def _term(name: str, mm: float) -> str:
    """Name a term of the balance so that its sign reads as it is; water that leaves the store counts as supply."""
    if name != "storage change":
        return name
    return "taken from storage" if mm > 0 else "added to storage"
