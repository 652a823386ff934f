"""/basins/{basin}: forecast, alerts, water and skill of a basin on one page."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.alerts import service as alert_service
from app.alerts.schemas import Alert, BasinAlerts
from app.basins import service as basin_service
from app.basins.normals.schemas import Normals
from app.basins.normals.service import normals_of
from app.basins.observations import service as observations
from app.basins.observations.schemas import Observations
from app.basins.observations.service import DISCHARGE
from app.basins.schemas import BasinDetail
from app.basins.series_requests import NormalsRequest, SeriesRequest
from app.forecasts import lookup
from app.forecasts import service as forecasts
from app.forecasts.discharge import DischargeUnits, Representation, WithMembers
from app.forecasts.recession import service as drain_downs
from app.forecasts.recession.schemas import DrainDownOfRun
from app.forecasts.schemas import BasinForecast
from app.forecasts.volumes import service as volume_service
from app.forecasts.volumes.schemas import VolumesOfRun
from app.forecasts.water import service as waters
from app.forecasts.water.loss import in_words as loss_in_words
from app.forecasts.water.loss import loss_beside_pet
from app.forecasts.words import UNITS
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.models import service as models
from app.models.schemas import ModelDetail
from app.models.scores import service as skills
from app.models.scores.schemas import BasinSkill
from app.models.verification import service as verification
from app.models.verification.schemas import BasinVerification, LeadVerification
from app.pages.adjacent_runs import RunsAround, runs_around
from app.pages.errors import PageRoute
from app.pages.figures import Figure, flow, water, weather
from app.pages.figures.age import age
from app.pages.figures.flow import Level, Observed
from app.pages.figures.normal_band import with_usual
from app.pages.figures.recession import drain_down
from app.pages.render import render
from app.weather.feeds import holes as holes_of
from app.weather.schemas import Hole
from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, Units, converted
from hydrology.extremes.alerting import rank
from hydrology.verification.results import ALL_YEAR
from records.forecasts import recession as dry_runs
from records.forecasts import seasonal_volumes as volumes
from records.forecasts.latest import Latest
from records.weather import feeds

router = APIRouter(route_class=PageRoute)

PAST_DAYS = 60
"""Number of days before T0 in the plots."""
SNOW, STORAGE = "snow", "storage"
SHOWN_SCORES = ("nse", "kge", "fhv", "flv")
"""The scores on the page."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Basin:
    """Contents of the page; a sentence in place of missing contents.

    Attributes:
        holes: days inside the basin's record without a value, with the command that fetches them.
        loss: the note where more is lost than could evaporate.
    """

    detail: BasinDetail
    forecast: BasinForecast | Absent
    around: RunsAround | None
    units: Units
    members: bool
    figures: Sequence[Figure]
    alerts: BasinAlerts
    volumes: VolumesOfRun | Absent
    skill: BasinSkill | Absent
    skill_by_lead: BasinVerification | Absent
    model: ModelDetail | None
    holes: Sequence[Hole]
    loss: str | None = None

    @property
    def title(self) -> str:
        """The name of the basin, or its identifier."""
        return self.detail.name or self.detail.id

    @property
    def every_unit(self) -> dict[Units, str]:
        """The units that can be chosen."""
        return dict(UNITS)

    @property
    def levels(self) -> list[Alert]:
        """The levels, the likeliest to be passed first."""
        return sorted(self.alerts.levels, key=lambda alert: -alert.chance)

    @property
    def alarmed(self) -> int:
        """The number of levels with an alert."""
        return sum(alert.severity is not None for alert in self.alerts.levels)

    @property
    def gravest(self) -> Alert | None:
        """The level to show first: of the most severe alert, then the rarest."""
        return max((alert for alert in self.alerts.levels if alert.severity), key=_gravity, default=None)

    @property
    def scores(self) -> list[tuple[str, float, int]]:
        """Name, value and number of days of each score shown."""
        if isinstance(self.skill, Absent):
            return []
        return [
            (score.metric, score.value, score.n)
            for name in SHOWN_SCORES
            for score in self.skill.scores
            if score.metric == name and score.member == "mean" and score.value is not None and score.lead == "all"
        ]

    @property
    def shipped_skill(self) -> bool:
        """Whether a score shown came with the shipped ensemble."""
        return not isinstance(self.skill, Absent) and any(score.shipped for score in self.skill.scores)

    @property
    def calibrated_leads(self) -> list[LeadVerification]:
        """Verification of calibrated forecasts by lead time."""
        if isinstance(self.skill_by_lead, Absent):
            return []
        return [row for row in self.skill_by_lead.verification if row.forecaster == "calibrated"]


@router.get("/basins/{basin}", response_class=HTMLResponse)
def read_basin(
    request: Request,
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    run: ChosenRun = None,
    units: DischargeUnits = "m3/s",
    members: WithMembers = False,
) -> HTMLResponse:
    """Show a basin by its latest forecast, or by a given run."""
    now = clock.now()
    detail = basin_service.detail(session, basin)
    latest = _or_reason(lambda: lookup.chosen(session, run, basin, now)[0])
    shown = _Shown(session, basin, units, members, now, run)
    page = shown.without(detail, latest) if isinstance(latest, Absent) else shown.with_forecast(detail, latest)
    return render(request, "basin.html", page)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The requested view of the page."""

    session: Session
    basin: str
    units: Units
    members: bool
    now: datetime
    run: str | None

    def without(self, detail: BasinDetail, reason: Absent) -> Basin:
        """Return the page of a basin that has no forecast."""
        return Basin(
            detail=detail,
            forecast=reason,
            around=None,
            units=self.units,
            members=self.members,
            figures=[],
            alerts=alert_service.of_basin(self.session, self.basin),
            volumes=reason,
            skill=reason,
            skill_by_lead=reason,
            model=None,
            holes=self._holes(),
        )

    def with_forecast(self, detail: BasinDetail, latest: Latest) -> Basin:
        """Return the page of a basin with a run's forecast."""
        forecast = _or_reason(lambda: self._forecast(latest))
        if isinstance(forecast, Absent):
            return self.without(detail, forecast)
        return Basin(
            detail=detail,
            forecast=forecast,
            around=runs_around(self.session, latest, self.now),
            units=self.units,
            members=self.members,
            figures=self._figures(forecast, latest),
            alerts=alert_service.of_basin(self.session, self.basin),
            volumes=_or_reason(self._volumes),
            skill=_or_reason(lambda: skills.of_basin(self.session, self.basin, forecast.version, None)),
            skill_by_lead=_or_reason(
                lambda: verification.of_basin(self.session, self.basin, forecast.version, ALL_YEAR)
            ),
            model=models.detail(self.session, forecast.version),
            holes=self._holes(),
            loss=self._loss(forecast.version),
        )

    def _holes(self) -> list[Hole]:
        of_feeds = feeds.holes_of_basin(self.session, self.basin)
        return [hole for feed, found in of_feeds.items() for hole in holes_of(feed, self.basin, found)]

    def _forecast(self, latest: Latest) -> BasinForecast:
        (parts,) = forecasts.stored_parts(self.session, [latest], self.members)
        at = self.now if self.run is None else None
        return forecasts.basin_forecast(latest, parts, Representation(self.units, self.members, at))

    def _loss(self, version: str) -> str | None:
        reported, _ = loss_beside_pet(self.session, version, self.basin)
        return None if reported is None else loss_in_words(reported)

    def _volumes(self) -> VolumesOfRun:
        newest = volumes.newest(self.session, self.basin, self.now)
        return volume_service.volumes_of_run(self.session, newest, None, self.now)

    def _figures(self, forecast: BasinForecast, latest: Latest) -> list[Figure]:
        first = forecast.t0 - timedelta(days=PAST_DAYS)
        time = [first + timedelta(days=ahead) for ahead in range(PAST_DAYS + forecast.horizon_days + 1)]
        here, chosen, of_run = f"/v1/basins/{self.basin}", "", f"/v1/basins/{self.basin}/forecasts/latest"
        if self.run is not None:
            chosen, of_run = f"?run={self.run}", f"/v1/runs/{self.run}/basins/{self.basin}"
        of_water = f"{here}/storage{chosen}"
        past = f"{here}/observations?product={forecast.product}&start={first}&end={forecast.t0}"
        of_weather = _or_reason(lambda: self._observations(forecast.product, None, first, forecast.t0, forecast))
        normals = _or_reason(lambda: self._normals(forecast, time))
        observed, levels = self._observed(forecast, time), self._levels(forecast)
        discharge = flow.hydrograph(forecast, observed, levels, self.units, time, of_run)
        return [
            with_usual(discharge, normals, DISCHARGE, time),
            water.origin(waters.origin(self.session, latest, None), time, f"{here}/origin{chosen}"),
            *self._age(latest, time, f"{here}/age{chosen}"),
            weather.precipitation(forecast, of_weather, time, past),
            weather.temperature(forecast, of_weather, time, past),
            with_usual(water.snow(forecast, time, of_water), normals, SNOW, time),
            with_usual(water.storage(forecast, time, of_water), normals, STORAGE, time),
            drain_down(_or_reason(self._drain_down), self.basin, self.units, f"{here}/drain-down?units={self.units}"),
        ]

    def _age(self, latest: Latest, time: Sequence[date], call: str) -> Iterator[Figure]:
        reported = waters.age(self.session, latest, None)
        if reported.ages is not None:
            yield age(reported, reported.ages, time, call)

    def _drain_down(self) -> DrainDownOfRun:
        newest = dry_runs.newest(self.session, self.basin, self.now)
        return drain_downs.recession_of_run(self.session, newest, self.now, self.units)

    def _normals(self, forecast: BasinForecast, time: Sequence[date]) -> Normals:
        area = forecast.area.name if forecast.area and self.units == "mm/day" else None
        asked = NormalsRequest(
            product=forecast.product, start=day(time[0]), end=day(time[-1]), units=self.units, area=area
        )
        return normals_of(self.session, self.basin, asked, self.now)

    def _observed(self, forecast: BasinForecast, time: Sequence[date]) -> Observed:
        last = min(time[-1], self.now.date())
        answer = _or_reason(lambda: self._observations(gauge_product(self.basin), DISCHARGE, time[0], last, forecast))
        if isinstance(answer, Absent):
            return Observed([], [], str(answer))
        return Observed(answer.time, answer.values[DISCHARGE])

    def _observations(
        self, product: str, variable: str | None, first: date, last: date, forecast: BasinForecast
    ) -> Observations:
        units = self.units if variable == DISCHARGE else None
        area = forecast.area.name if forecast.area and units == "mm/day" else None
        asked = SeriesRequest(
            product=product, variable=variable, start=day(first), end=day(last), units=units, area=area
        )
        return observations.answer(self.session, observations.part(self.session, self.basin, asked))

    def _levels(self, forecast: BasinForecast) -> list[Level]:
        if forecast.area is None and self.units == "mm/day":
            return []
        area = None if forecast.area is None else Area(forecast.area.name, forecast.area.km2 * 1e6)
        levels = alert_service.of_basin(self.session, self.basin).levels
        # Floods are estimated by two methods: one line for each return period is enough.
        rising = [alert for alert in levels if alert.direction == "rising" and not alert.level.startswith("lp3-")]
        flows = converted(np.array([alert.discharge for alert in rising]), unit="m3/s", into=self.units, area=area)
        return [Level(alert.level, float(value)) for alert, value in zip(rising, flows, strict=True)]


def _gravity(alert: Alert) -> tuple[int, float]:
    return rank(alert.severity), alert.return_period_years or math.inf


def _or_reason(read: Callable[[], Answer]) -> Answer | Absent:
    """Return an answer, or the reason why there is none."""
    try:
        return read()
    except (NotFound, InvalidInput) as problem:
        return absent(Reason.FAILED, message=str(problem))
