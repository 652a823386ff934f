"""Today's status of every basin, for the map and the list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from sqlalchemy.orm import Session

from app.basins.schemas import Kind, named_kind
from app.basins.state import peak, peak_day
from app.pages.rivers.map import Place
from hydrology.base.absent import Absent, known
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days, stale
from hydrology.extremes.alerting import Severity, Trend, rank
from hydrology.snow.against_normal import SnowAgainstNormal
from records.alerts import alerts
from records.alerts.alerts import AtAGlance
from records.basins import basins, ownership
from records.basins.station_names import station_name
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.verification import scores as verification_scores
from records.verification.scores import HeldOutScore
from records.versions import versions

METRIC = "nse"
MIN_NORMAL_MM = 1.0
"""Minimum normal for a meaningful percentage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinToday:
    """A basin, and its newest forecast in a few numbers; None where a number is not known.

    Attributes:
        place: None where it is not known.
        t0: of its latest forecast; reason: why it has none, or why a newer one was withheld.
        version_note: which promoted version has issued none yet; None where it is of the current version.
        weather_age_days: age of the last past day of its weather: of T0, or of a later day that was filled.
        alerts_t0: of the run that decided its alerts, if that is not `t0`.
        alerts_stale: whether that run is stale.
        chance: the highest of passing one of its levels upwards; level: that level.
        severity: the highest of its alerts; trend: of the chance.
        peak: the median forecast's highest day, m3/s.
        flow_percent: the forecast's flow in percent of normal.
        snow: of T0 against its normal.
        nse: Nash-Sutcliffe efficiency of the members' mean on held-out days; nse_days: the first and the last of them.
    """

    id: str
    kind: Kind
    name: str | None
    place: Place | None
    t0: date | None = None
    reason: str | None = None
    version_note: str | None = None
    weather_age_days: int | None = None
    alerts_t0: date | None = None
    alerts_stale: bool = False
    severity: Severity | None = None
    chance: float | None = None
    level: str | None = None
    trend: Trend | None = None
    peak: float | None = None
    peak_day: date | None = None
    flow_percent: float | None = None
    snow: SnowAgainstNormal | None = None
    nse: float | None = None
    nse_days: tuple[date, date] | None = None

    @property
    def title(self) -> str:
        """What people call it."""
        return station_name(self.name) if self.name else self.id

    @property
    def snow_percent(self) -> float | None:
        """Its snow in percent of normal; None where it is uncertain."""
        return None if self.snow is None or self.snow.uncertain else self.snow.percent

    @property
    def stale(self) -> bool:
        """Whether its latest forecast is stale."""
        return self.weather_age_days is not None and stale(self.weather_age_days)

    @property
    def concern(self) -> tuple[float, ...]:
        """Sort key: higher means more urgent; unofficial basins come after the others."""
        official, alert = self.kind != "unofficial", rank(self.severity)
        return (official, alert, self.chance or 0.0, self.t0 is None, self.stale, self.flow_percent or 0.0)


def basins_today(session: Session, at: datetime) -> list[BasinToday]:
    """Return the status of every basin at an instant, most urgent first."""
    sites = basins.sites(session, basins.chosen(session))
    forecasts = latest.latest_many(session, list(sites), at)
    levels, owners = alerts.highest(session), ownership.owners(session, list(sites))
    scores = _scores(session, {f.run.version_id for f in forecasts.values() if isinstance(f, Latest)})
    today = []
    for basin, site in sites.items():
        basin_today = _plain(basin, site, named_kind(basin, official=basin not in owners))
        forecast = forecasts[basin]
        if isinstance(forecast, Latest):
            nse = scores.get((forecast.run.version_id, basin))
            basin_today = _with_forecast(basin_today, forecast, at, levels.get(basin, ()), nse)
        else:
            basin_today = replace(basin_today, reason=str(forecast))
        today.append(basin_today)
    return sorted(today, key=lambda basin: basin.concern, reverse=True)


def _plain(basin: str, site: basins.Site, kind: Kind) -> BasinToday:
    known = site.latitude is not None and site.longitude is not None
    place = Place(site.latitude or 0.0, site.longitude or 0.0) if known else None
    return BasinToday(id=basin, kind=kind, name=site.name, place=place)


def _with_forecast(
    basin: BasinToday, forecast: Latest, at: datetime, levels: Sequence[AtAGlance], nse: HeldOutScore | None
) -> BasinToday:
    run, summary = forecast.run, forecast.basin.summary
    rising = [level for level in levels if level.direction == "rising"]
    likeliest = max(rising, key=lambda level: level.chance, default=None)
    decided = next((level for level in levels if level.t0 != run.t0), None)  # all levels of a basin by one run
    return replace(
        basin,
        t0=as_date(run.t0),
        reason=str(forecast.superseded_by.reason) if forecast.superseded_by else None,
        version_note=forecast.version_note,
        weather_age_days=age_days(run.weather_until, at),
        alerts_t0=None if decided is None else as_date(decided.t0),
        alerts_stale=decided is not None and stale(age_days(decided.weather_until, at)),
        severity=max((level.severity for level in levels), key=rank, default=None),
        chance=likeliest.chance if likeliest else None,
        level=likeliest.level if likeliest else None,
        trend=likeliest.trend if likeliest else None,
        peak=peak(forecast),
        flow_percent=_percent(summary.discharge_mm, known(summary.normal_mm)),
        snow=None if isinstance(summary.snow, Absent) else summary.snow.against_normal,
        peak_day=peak_day(forecast),
        nse=nse.value if nse else None,
        nse_days=(as_date(nse.period.first), as_date(nse.period.last)) if nse else None,
    )


def _percent(amount: float | None, normal: float | None) -> float | None:
    """Return an amount in percent of normal; None where the normal is too small for a meaningful percentage."""
    return None if amount is None or normal is None or normal < MIN_NORMAL_MM else 100 * amount / normal


def _scores(session: Session, in_use: set[str]) -> dict[tuple[str, str], HeldOutScore]:
    """Return scores by version and basin; a twin's score if the version has none."""
    scored = {version: versions.get(session, version).twin_id or version for version in in_use}
    stored = verification_scores.held_out_scores(session, sorted({*scored, *scored.values()}), [METRIC])
    values = {(version, basin): value for (version, basin, _), value in stored.items()}
    of_twins = {
        (version, basin): value
        for version, twin in scored.items()
        for (of, basin), value in values.items()
        if of == twin
    }
    return of_twins | values
