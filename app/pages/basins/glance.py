"""Reads what the five facts of a basin's page rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.alerts import alerts as alert_answers
from app.alerts.alerts import BasinAlerts
from app.forecasts import words
from app.forecasts.forecast import BasinForecast
from app.forecasts.volumes import VolumesOfRun, volumes_of_run
from app.outlooks.schemas import BasinOutlook
from app.outlooks.service import answer as outlook_answer
from app.pages.basins import facts
from app.pages.basins.facts import Fact
from app.pages.basins.plots import or_reason
from app.versions.scores import BasinSkill, basin_skill
from app.versions.verification import basin_verification
from app.versions.verification_schemas import BasinVerification
from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.units import Units
from hydrology.verification.held_out_years import HELD_OUT
from hydrology.verification.results import ALL_YEAR
from records.forecasts import seasonal_volumes as volumes
from records.forecasts.latest import Latest
from records.outlooks import reader
from records.outlooks.skill import METRIC
from records.runs.run_request import name_of_weather
from records.verification.scores import HeldOutScore, held_out_scores


@dataclass(frozen=True, slots=True)
class BasinOverview:
    """Answers about a basin, or why there are none; its skill is that on held-out days."""

    alerts: BasinAlerts
    outlook: BasinOutlook
    season: VolumesOfRun | Absent
    skill: BasinSkill | Absent
    nse: HeldOutScore | None
    by_lead: BasinVerification | Absent

    def sentence(self, forecast: BasinForecast, units: Units) -> str | None:
        """Describe the forecast: as issued, or as a forecaster published it."""
        days, peak = self.outlook.days, self.outlook.peak
        if self.outlook.adjustment is None or days is None:
            return forecast.in_words
        known = [place for place, flow in enumerate(days.mean) if flow is not None]
        flows = {name: [flow for flow in column if flow is not None] for name, column in days.quantiles.items()}
        return words.in_words(
            t0=forecast.t0,
            days=[days.time[place] for place in known],
            discharge=flows,
            calibrated=flows if self.outlook.flow == "calibrated" else None,
            calibration=forecast.calibration,
            storage=forecast.storage,
            weather=forecast.forcing_kind,
            units=units,
            peak=None if peak is None else (peak.discharge, peak.day),
        )

    def facts(self, latest: Latest, forecast: BasinForecast) -> Sequence[Fact]:
        """Return the five facts."""
        no_snow = latest.basin.summary.snow
        return [
            facts.threat(self.outlook),
            facts.peak(self.outlook, getattr(forecast.calibration, "kind", "")),
            facts.snow(forecast, no_snow if isinstance(no_snow, Absent) else None),
            facts.season(self.outlook),
            facts.skill(self.nse, self.by_lead, weather_of(forecast), forecast.time[-1].month),
        ]


def read_overview(session: Session, forecast: BasinForecast, units: Units, now: datetime) -> BasinOverview:
    """Read what is known about a basin by a run of its forecast."""
    basin, version = forecast.basin, forecast.version
    skill = or_reason(lambda: basin_skill(session, basin, version, use=HELD_OUT))
    return BasinOverview(
        alerts=alert_answers.of_basin(session, basin, day(now.date())),
        outlook=outlook_answer(session, reader.outlook(session, basin, now, forecast.run), units),
        season=or_reason(lambda: volumes_of_run(session, volumes.newest(session, basin, now), None, now)),
        skill=skill,
        nse=None if isinstance(skill, Absent) else _nse(session, skill),
        by_lead=or_reason(lambda: basin_verification(session, basin, version, ALL_YEAR)),
    )


def _nse(session: Session, skill: BasinSkill) -> HeldOutScore | None:
    key = skill.scored, skill.basin, METRIC
    return held_out_scores(session, [skill.scored], [METRIC], [skill.basin]).get(key)


def weather_of(forecast: BasinForecast | Absent) -> str | None:
    """Return the weather forecast behind a forecast, by its source and model; None where there is none."""
    used = None if isinstance(forecast, Absent) else forecast.weather
    return None if used is None else name_of_weather(used.source, used.model)
