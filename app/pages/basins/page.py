"""/basins/{basin}: five facts, forecast, levels, water and skill of a basin on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.alerts import alerts as alert_answers
from app.alerts.alerts import BasinAlerts
from app.basins.schemas import BasinDetail, basin_detail
from app.feeds import Hole
from app.feeds import holes as holes_of
from app.forecasts import lookup
from app.forecasts.changes import ChangeOfRun, change_of
from app.forecasts.discharge import DischargeUnits, Representation, WithMembers, usual_units
from app.forecasts.forecast import BasinForecast, forecast_of
from app.forecasts.rain_margin import LevelMargin, RainMarginOfRun, rain_margin_of_run
from app.forecasts.volumes import VolumesOfRun, volumes_of_run
from app.forecasts.water.balances import in_words as loss_in_words
from app.forecasts.water.balances import loss_beside_pet
from app.forecasts.words import UNITS
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.outlooks.schemas import BasinOutlook, ThreatLevel
from app.outlooks.service import answer as outlook_answer
from app.pages.basins.facts import Fact, ShownScore, by_months, facts_of, shown_scores, verified_rows
from app.pages.basins.plots import BasinFigures, RunsAround, or_reason, runs_around
from app.pages.figures import Figure
from app.pages.figures.flow import Flow, flow_of
from app.pages.render import PageRoute, render
from app.versions.schemas import ModelDetail
from app.versions.scores import BasinSkill, basin_skill
from app.versions.verification import basin_verification
from app.versions.verification_schemas import BasinVerification, LeadVerification
from app.versions.versions import version_detail
from hydrology.alerts import Severity
from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.units import Units
from hydrology.extremes.levels import OF_MODEL
from hydrology.extremes.rain_margin import RAIN_MM
from hydrology.verification.held_out_years import HELD_OUT
from hydrology.verification.results import ALL_YEAR
from records.basins.ownership import station_name
from records.feeds import feeds
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import Latest
from records.outlooks import reader

router = APIRouter(route_class=PageRoute)

PastDays = Literal["14", "30", "90", "365"]
Days = Annotated[PastDays, Query(description="Number of days before T0 in the plots.")]
CAUSES: Mapping[str, str] = {
    "revised_data": "revised data",
    "observed_weather": "weather that came",
    "weather_forecast": "new weather forecast",
    "model_version": "model version",
    "observed_flow": "observed flow",
}
PERIODS: Mapping[PastDays, str] = {"14": "14 days", "30": "30 days", "90": "90 days", "365": "a year"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastPart:
    """Contents of the page that follow a run's forecast; a sentence in place of missing contents.

    Attributes:
        facts: the five facts, most urgent first.
        scores: the scores shown; none where `skill` is a reason.
        loss: the note where more is lost than could evaporate.
    """

    forecast: BasinForecast
    outlook: BasinOutlook
    around: RunsAround
    facts: Sequence[Fact]
    figures: Sequence[Figure]
    volumes: VolumesOfRun | Absent
    skill: BasinSkill | Absent
    skill_by_lead: BasinVerification | Absent
    changes: ChangeOfRun | Absent
    rain_margin: RainMarginOfRun | Absent
    model: ModelDetail
    scores: Sequence[ShownScore]
    loss: str | None
    causes = CAUSES
    most_rain = f"{RAIN_MM[-1]:g}"
    """The largest rain that is simulated, mm."""

    @property
    def flows(self) -> Flow | None:
        """The quantiles of the table."""
        return flow_of(self.forecast)

    @property
    def margins(self) -> list[LevelMargin]:
        """The flood levels of the record and of operators with rain margins."""
        levels = None if isinstance(self.rain_margin, Absent) else self.rain_margin.levels
        return [level for level in levels or () if level.windows and not (level.name or "").startswith(OF_MODEL)]

    @property
    def levels(self) -> list[ThreatLevel]:
        """The levels, the likeliest to be passed first."""
        return sorted(self.outlook.threat.levels or (), key=lambda level: (-level.chance, level.discharge))

    @property
    def rated(self) -> bool:
        return any(level.stage.ft is not None for level in self.levels)

    @property
    def balance_terms(self) -> list[tuple[str, float]]:
        """The terms of the water balance, mm, each named so that its sign reads as it is."""
        balance = self.forecast.water_balance
        return [] if balance is None else [(_term(name, mm), mm) for name, mm in balance.mean.items()]

    @property
    def shipped_skill(self) -> bool:
        """Whether a score shown came with the shipped ensemble."""
        return any(score.shipped for score in self.scores)

    @property
    def calibrated_leads(self) -> list[LeadVerification]:
        """Verification of calibrated forecasts by lead time."""
        return verified_rows(self.skill_by_lead, self.outlook)

    @property
    def skilful_months(self) -> list[tuple[str, str, int]]:
        """Until which day ahead forecasts are skilful, by the name of the month; and the number of independent ones."""
        return by_months(self.calibrated_leads)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinPage:
    """Contents of the page.

    Attributes:
        shown: what follows the forecast, or why there is none.
        days: number of days before T0 in the plots.
        holes: days inside the basin's record without a value, with the command that fetches them.
    """

    detail: BasinDetail
    shown: ForecastPart | Absent
    units: Units
    members: bool
    days: PastDays
    alerts: BasinAlerts
    holes: Sequence[Hole]
    every_unit = UNITS
    periods = PERIODS

    @property
    def title(self) -> str:
        """The name of the basin, or its identifier."""
        return station_name(self.detail.name) if self.detail.name else self.detail.id

    @property
    def severities(self) -> dict[str, Severity]:
        """The alerts that stand, by level."""
        return {alert.level: alert.severity for alert in self.alerts.levels if alert.severity is not None}


@router.get("/basins/{basin}", response_class=HTMLResponse)
def read_basin(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    run: ChosenRun = None,
    units: DischargeUnits | None = None,
    members: WithMembers = False,
    days: Days = "14",
) -> HTMLResponse:
    """Show a basin by its latest forecast, or by a given run."""
    now = clock.now()
    detail = basin_detail(session, basin)
    latest = or_reason(lambda: lookup.chosen(session, run, basin, now)[0])
    units = units or ("m3/s" if isinstance(latest, Absent) else usual_units(latest.basin))
    shown: ForecastPart | Absent
    if isinstance(latest, Absent):
        shown = latest
    else:
        form = Representation(units, members, now if run is None else None)
        forecast = or_reason(lambda: forecast_of(session, latest, form))
        shown = forecast if isinstance(forecast, Absent) else _part(session, latest, forecast, run, now, int(days))
    holes = feeds.holes_of_basin(session, basin)
    page = BasinPage(
        detail=detail,
        shown=shown,
        units=units,
        members=members,
        days=days,
        alerts=alert_answers.of_basin(session, basin, day(now.date())),
        holes=[one for feed, found in holes.items() for one in holes_of(feed, basin, found)],
    )
    return render(request, "basin.html", page)


def _part(
    session: Session,
    latest: Latest,
    forecast: BasinForecast,
    run: str | None,
    now: datetime,
    past_days: int,
) -> ForecastPart:
    """Return the contents that follow a forecast; `run` None is the latest."""
    units: Units = forecast.units["discharge"]  # type: ignore[assignment]
    basin, version, around = forecast.basin, forecast.version, runs_around(session, latest, now)
    found = reader.outlook(session, basin, now, forecast.run)
    outlook = outlook_answer(session, found, units)
    skill = or_reason(lambda: basin_skill(session, basin, version, use=HELD_OUT))
    loss = loss_beside_pet(session, version, basin)
    figures = BasinFigures(
        session=session,
        forecast=forecast,
        latest=latest,
        run=run,
        before=around.before.run if around.before else None,
        outlook=outlook,
        units=units,
        now=now,
        past_days=past_days,
    )
    return ForecastPart(
        forecast=forecast,
        outlook=outlook,
        around=around,
        facts=facts_of(outlook, forecast, found.snow if isinstance(found.snow, Absent) else None),
        figures=figures.build(),
        volumes=or_reason(
            lambda: volumes_of_run(session, volumes_and_recessions.newest(session, basin, now), None, now)
        ),
        skill=skill,
        skill_by_lead=or_reason(lambda: basin_verification(session, basin, version, ALL_YEAR)),
        changes=or_reason(lambda: change_of(session, latest, now, units)),
        rain_margin=or_reason(lambda: rain_margin_of_run(session, latest, now, units, None)),
        model=version_detail(session, version),
        scores=[] if isinstance(skill, Absent) else shown_scores(session, skill),
        loss=None if isinstance(loss, Absent) else loss_in_words(loss),
    )


def _term(name: str, mm: float) -> str:
    """Return the name of a term of the balance; water that leaves the store counts as supply."""
    if name != "storage change":
        return name
    return "taken from storage" if mm > 0 else "added to storage"
