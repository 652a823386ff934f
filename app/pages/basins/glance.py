"""Reads what the five facts of a basin's page rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.alerts import service as alert_service
from app.alerts.schemas import Alert, BasinAlerts
from app.forecasts.exceedance.schemas import ExceedanceOfRun
from app.forecasts.exceedance.service import exceedance
from app.forecasts.schemas import BasinForecast
from app.forecasts.volumes import service as volume_service
from app.forecasts.volumes.schemas import VolumesOfRun
from app.pages.basins import facts
from app.pages.basins.facts import Fact
from app.pages.basins.plots import or_reason
from app.pages.rivers.basins_today import METRIC
from app.versions.scores import service as skills
from app.versions.scores.schemas import BasinSkill
from app.versions.verification import service as verification
from app.versions.verification.schemas import BasinVerification
from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.units import Units
from hydrology.extremes.gravity import gravity
from hydrology.verification.held_out_years import HELD_OUT
from hydrology.verification.results import ALL_YEAR
from records.forecasts import seasonal_volumes as volumes
from records.forecasts.latest import Latest
from records.runs.run_request import name_of_weather
from records.verification.scores import HeldOutScore, held_out_scores


@dataclass(frozen=True, slots=True)
class BasinOverview:
    """Answers about a basin, or why there are none; its skill is that on held-out days."""

    alerts: BasinAlerts
    chances: ExceedanceOfRun | Absent
    season: VolumesOfRun | Absent
    skill: BasinSkill | Absent
    nse: HeldOutScore | None
    by_lead: BasinVerification | Absent

    def facts(self, latest: Latest, forecast: BasinForecast, units: Units) -> Sequence[Fact]:
        """Return the five facts."""
        no_snow = latest.basin.summary.snow
        return [
            facts.threat(_gravest(self.alerts, forecast.run), self.chances, units, self.alerts.window_days or 0),
            facts.peak(forecast, self.chances, units),
            facts.snow(forecast, no_snow if isinstance(no_snow, Absent) else None),
            facts.season(forecast, self.season),
            facts.skill(self.nse, self.by_lead, weather_of(forecast), forecast.time[-1].month),
        ]


def read_overview(
    session: Session, latest: Latest, forecast: BasinForecast, units: Units, now: datetime
) -> BasinOverview:
    """Read what is known about a basin by a run of its forecast."""
    basin, version = forecast.basin, forecast.version
    skill = or_reason(lambda: skills.of_basin(session, basin, version, None, HELD_OUT))
    return BasinOverview(
        alerts=alert_service.of_basin(session, basin, day(now.date())),
        chances=or_reason(lambda: exceedance(session, latest, None, units, None)),
        season=or_reason(
            lambda: volume_service.volumes_of_run(session, volumes.newest(session, basin, now), None, now)
        ),
        skill=skill,
        nse=None if isinstance(skill, Absent) else _nse(session, skill),
        by_lead=or_reason(lambda: verification.of_basin(session, basin, version, ALL_YEAR)),
    )


def _nse(session: Session, skill: BasinSkill) -> HeldOutScore | None:
    key = skill.scored, skill.basin, METRIC
    return held_out_scores(session, [skill.scored], [METRIC], [skill.basin]).get(key)


def weather_of(forecast: BasinForecast | Absent) -> str | None:
    """Return the weather forecast behind a forecast, by its source and model; None where there is none."""
    used = None if isinstance(forecast, Absent) else forecast.weather
    return None if used is None else name_of_weather(used.source, used.model)


def _gravest(alerts: BasinAlerts, run: str) -> Alert | None:
    """Return the level that stands for the basin's alerts, if the run decided it."""
    alarmed = [alert for alert in alerts.levels if alert.severity] if alerts.run == run else []
    return max(alarmed, key=_gravity, default=None)


def _gravity(alert: Alert) -> tuple[float, ...]:
    return gravity(alert.severity, alert.chance, alert.discharge, alert.direction)
