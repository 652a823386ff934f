"""/basins/{basin}: five facts, forecast, levels, water and skill of a basin on one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.alerts import service as alert_service
from app.alerts.schemas import Alert, BasinAlerts
from app.basins.schemas import BasinDetail, basin_detail
from app.forecasts import lookup
from app.forecasts.changes.answer import ChangeOfRun, change_of
from app.forecasts.discharge import DischargeUnits, Representation, WithMembers, usual_units
from app.forecasts.forecast import BasinForecast, forecast_of
from app.forecasts.rain_margin import LevelMargin, RainMarginOfRun, rain_margin_of_run
from app.forecasts.volumes import VolumesOfRun
from app.forecasts.water.balances import in_words as loss_in_words
from app.forecasts.water.balances import loss_beside_pet
from app.forecasts.words import UNITS
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.pages.basins.adjacent_runs import RunsAround, runs_around
from app.pages.basins.facts import Fact, by_months, verified_rows
from app.pages.basins.glance import read_overview, weather_of
from app.pages.basins.plots import BasinFigures, or_reason
from app.pages.basins.scores import ShownScore, shown_scores
from app.pages.errors import PageRoute
from app.pages.figures import Figure
from app.pages.render import render
from app.versions.schemas import ModelDetail
from app.versions.scores import BasinSkill
from app.versions.verification_schemas import BasinVerification, LeadVerification
from app.versions.versions import version_detail
from app.weather.feeds import holes as holes_of
from app.weather.schemas import Hole
from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.units import Units
from hydrology.extremes.rain_margin import RAIN_MM
from hydrology.extremes.thresholds import OF_MODEL
from records.adjustments.adjustments import Adjustment, published
from records.basins.station_names import station_name
from records.feeds import feeds
from records.forecasts.latest import Latest

router = APIRouter(route_class=PageRoute)

PastDays = Literal["14", "30", "90", "365"]
Days = Annotated[PastDays, Query(description="Number of days before T0 in the plots.")]
CAUSES = {
    "revised_data": "revised data",
    "observed_weather": "weather that came",
    "weather_forecast": "new weather forecast",
    "model_version": "model version",
    "observed_flow": "observed flow",
}
PERIODS: dict[PastDays, str] = {"14": "14 days", "30": "30 days", "90": "90 days", "365": "a year"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinPage:
    """Contents of the page; a sentence in place of missing contents.

    Attributes:
        facts: the five facts, most urgent first.
        days: number of days before T0 in the plots.
        holes: days inside the basin's record without a value, with the command that fetches them.
        scores: the scores shown; none where `skill` is a reason.
        loss: the note where more is lost than could evaporate.
        adjustment: what a forecaster published of the run; None for nothing.
        sentence: the forecast in words; None without any.
    """

    detail: BasinDetail
    forecast: BasinForecast | Absent
    around: RunsAround | None
    units: Units
    members: bool
    days: PastDays
    facts: Sequence[Fact]
    figures: Sequence[Figure]
    alerts: BasinAlerts
    volumes: VolumesOfRun | Absent
    skill: BasinSkill | Absent
    skill_by_lead: BasinVerification | Absent
    changes: ChangeOfRun | Absent
    rain_margin: RainMarginOfRun | Absent
    model: ModelDetail | None
    holes: Sequence[Hole]
    scores: Sequence[ShownScore] = ()
    loss: str | None = None
    adjustment: Adjustment | None = None
    sentence: str | None = None

    @property
    def causes(self) -> dict[str, str]:
        """The causes of a change, with the title of each."""
        return CAUSES

    @property
    def margins(self) -> list[LevelMargin]:
        """The flood levels of the record and of operators with rain margins."""
        levels = None if isinstance(self.rain_margin, Absent) else self.rain_margin.levels
        return [level for level in levels or () if level.windows and not (level.name or "").startswith(OF_MODEL)]

    @property
    def most_rain(self) -> str:
        """The largest rain that is simulated, mm."""
        return f"{RAIN_MM[-1]:g}"

    @property
    def title(self) -> str:
        """The name of the basin, or its identifier."""
        return station_name(self.detail.name) if self.detail.name else self.detail.id

    @property
    def every_unit(self) -> dict[Units, str]:
        """The units that can be chosen."""
        return dict(UNITS)

    @property
    def periods(self) -> dict[PastDays, str]:
        """The numbers of days before T0 that can be chosen."""
        return PERIODS

    @property
    def levels(self) -> list[Alert]:
        """The levels, the likeliest to be passed first."""
        return sorted(self.alerts.levels, key=lambda alert: (-alert.chance, alert.discharge))

    @property
    def rated(self) -> bool:
        """Whether any level has a stage."""
        return any(alert.stage.ft is not None for alert in self.alerts.levels)

    @property
    def balance_terms(self) -> list[tuple[str, float]]:
        """The terms of the water balance, mm, each named so that its sign reads as it is."""
        balance = None if isinstance(self.forecast, Absent) else self.forecast.water_balance
        return [] if balance is None else [(_term(name, mm), mm) for name, mm in balance.mean.items()]

    @property
    def shipped_skill(self) -> bool:
        """Whether a score shown came with the shipped ensemble."""
        return any(score.shipped for score in self.scores)

    @property
    def calibrated_leads(self) -> list[LeadVerification]:
        """Verification of calibrated forecasts by lead time."""
        if isinstance(self.skill_by_lead, Absent):
            return []
        return verified_rows(self.skill_by_lead, weather_of(self.forecast))

    @property
    def skilful_months(self) -> list[tuple[str, str, int]]:
        """Until which day ahead forecasts are skilful, by the name of the month; and the number of independent ones."""
        return by_months(self.calibrated_leads)


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
    usual = "m3/s" if isinstance(latest, Absent) else usual_units(latest.basin)
    shown = _Shown(session=session, basin=basin, units=units or usual, members=members, days=days, now=now, run=run)
    page = shown.without(detail, latest) if isinstance(latest, Absent) else shown.with_forecast(detail, latest)
    return render(request, "basin.html", page)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The requested view of the page."""

    session: Session
    basin: str
    units: Units
    members: bool
    days: PastDays
    now: datetime
    run: str | None

    def without(self, detail: BasinDetail, reason: Absent) -> BasinPage:
        """Return the page of a basin that has no forecast."""
        return BasinPage(
            detail=detail,
            forecast=reason,
            around=None,
            units=self.units,
            members=self.members,
            days=self.days,
            facts=[],
            figures=[],
            alerts=alert_service.of_basin(self.session, self.basin, day(self.now.date())),
            volumes=reason,
            skill=reason,
            skill_by_lead=reason,
            changes=reason,
            rain_margin=reason,
            model=None,
            holes=self._holes(),
        )

    def with_forecast(self, detail: BasinDetail, latest: Latest) -> BasinPage:
        """Return the page of a basin with a run's forecast."""
        forecast = or_reason(lambda: self._forecast(latest))
        if isinstance(forecast, Absent):
            return self.without(detail, forecast)
        around = runs_around(self.session, latest, self.now)
        known = read_overview(self.session, forecast, self.units, self.now)
        figures = BasinFigures(
            session=self.session,
            forecast=forecast,
            latest=latest,
            run=self.run,
            before=around.before.run if around.before else None,
            outlook=known.outlook,
            units=self.units,
            now=self.now,
            past_days=int(self.days),
        )
        return BasinPage(
            detail=detail,
            forecast=forecast,
            around=around,
            units=self.units,
            members=self.members,
            days=self.days,
            facts=known.facts(latest, forecast),
            sentence=known.sentence(forecast, self.units),
            figures=figures.build(),
            alerts=known.alerts,
            volumes=known.season,
            skill=known.skill,
            skill_by_lead=known.by_lead,
            changes=or_reason(lambda: change_of(self.session, latest, self.now, self.units)),
            rain_margin=or_reason(lambda: rain_margin_of_run(self.session, latest, self.now, self.units, None)),
            model=version_detail(self.session, forecast.version),
            holes=self._holes(),
            scores=[] if isinstance(known.skill, Absent) else shown_scores(self.session, known.skill),
            loss=self._loss(forecast.version),
            adjustment=published(self.session, latest.run.id, self.basin),
        )

    def _holes(self) -> list[Hole]:
        of_feeds = feeds.holes_of_basin(self.session, self.basin)
        return [hole for feed, found in of_feeds.items() for hole in holes_of(feed, self.basin, found)]

    def _forecast(self, latest: Latest) -> BasinForecast:
        at = self.now if self.run is None else None
        return forecast_of(self.session, latest, Representation(self.units, self.members, at))

    def _loss(self, version: str) -> str | None:
        reported = loss_beside_pet(self.session, version, self.basin)
        return None if isinstance(reported, Absent) else loss_in_words(reported)


def _term(name: str, mm: float) -> str:
    """Return the name of a term of the balance; water that leaves the store counts as supply."""
    if name != "storage change":
        return name
    return "taken from storage" if mm > 0 else "added to storage"
