"""Today's status of every basin, for the map and the list, and the colour scales of its numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from sqlalchemy.orm import Session

from app.basins.schemas import Kind, named_kind
from hydrology.alerts import Severity, Trend, rank
from hydrology.base.absent import Absent, known, text
from hydrology.base.calendar import STALE_AFTER_DAYS, age_days, as_date, stale
from hydrology.base.units import Area
from hydrology.extremes.advice import LevelAdvice
from hydrology.snow.against_normal import SnowAgainstNormal
from records.basins import basins
from records.basins.ownership import station_name
from records.forecasts.latest import Latest
from records.outlooks import reader
from records.outlooks.reader import Outlook


@dataclass(frozen=True, slots=True)
class Place:
    """Where a basin's gauge is, degrees."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinToday:
    """A basin, and its newest forecast in a few numbers; None where a number is not known.

    Attributes:
        t0: of its latest forecast; reason: why it has none, or why a newer one was withheld.
        version_note: which promoted version has issued none yet; None where it is of the current version.
        weather_age_days: age of the last past day of its weather: of T0, or of a later day that was filled.
        alerts_t0: of the run that decided its alert, if that is not `t0`.
        alerts_stale: whether that run is stale.
        chance: the highest calibrated chance of passing one of its levels upwards; level: that level.
        severity: the highest of its alerts; trend: of the chance.
        advice: what happens at its likely and its possible level, and what to do.
        peak: the highest of the days ahead, m3/s.
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
    advice: Sequence[LevelAdvice] = ()
    peak: float | None = None
    area: Area | None = None
    peak_day: date | None = None
    flow_percent: float | None = None
    snow: SnowAgainstNormal | None = None
    nse: float | None = None
    nse_days: tuple[date, date] | None = None

    @property
    def title(self) -> str:
        return station_name(self.name) if self.name else self.id

    @property
    def snow_percent(self) -> float | None:
        """Its snow in percent of normal; None where it is uncertain."""
        return None if self.snow is None or self.snow.uncertain else self.snow.percent

    @property
    def stale(self) -> bool:
        return self.weather_age_days is not None and stale(self.weather_age_days)

    @property
    def concern(self) -> tuple[float, ...]:
        """Sort key: higher means more urgent; unofficial basins come after the others."""
        official, alert = self.kind != "unofficial", rank(self.severity)
        return (official, alert, self.chance or 0.0, self.t0 is None, self.stale, self.flow_percent or 0.0)


def basins_today(session: Session, at: datetime) -> list[BasinToday]:
    """Return the status of every basin at an instant, most urgent first."""
    sites = basins.sites(session, basins.chosen(session))
    found = reader.outlooks(session, list(sites), at)
    return sorted(
        (_today(found[name], site) for name, site in sites.items()), key=lambda basin: basin.concern, reverse=True
    )


def _today(outlook: Outlook, site: basins.Site) -> BasinToday:
    has_place = site.latitude is not None and site.longitude is not None
    basin = BasinToday(
        id=outlook.basin,
        kind=named_kind(outlook.basin, official=outlook.is_official),
        name=site.name,
        place=Place(site.latitude or 0.0, site.longitude or 0.0) if has_place else None,
    )
    if outlook.forecast is None:
        return replace(basin, reason=text(outlook.freshness.reason))
    return _with_forecast(basin, outlook, outlook.forecast)


def _with_forecast(basin: BasinToday, outlook: Outlook, forecast: Latest) -> BasinToday:
    standing, newer, level = outlook.alert, outlook.freshness.newer, outlook.likeliest
    is_older = standing is not None and standing.run.t0 != forecast.run.t0
    if not outlook.is_calibrated:
        level = None  # the members' chance rests on no errors
    skill = known(outlook.skill)
    nse = None if skill is None else known(skill.nse)
    return replace(
        basin,
        t0=as_date(forecast.run.t0),
        reason=None if newer is None else str(newer.reason),
        version_note=forecast.version_note,
        weather_age_days=age_days(forecast.run.weather_until, outlook.at),
        alerts_t0=as_date(standing.run.t0) if standing is not None and is_older else None,
        alerts_stale=standing is not None and is_older and stale(age_days(standing.run.weather_until, outlook.at)),
        severity=None if standing is None else standing.alert.severity,
        chance=None if level is None else level.chance,
        level=None if level is None else level.level,
        trend=None if level is None else outlook.trend,
        advice=outlook.advice,
        peak=outlook.peak_m3s,
        area=outlook.area,
        peak_day=outlook.peak_day,
        flow_percent=known(outlook.percent_of_normal),
        snow=None if isinstance(outlook.snow, Absent) else outlook.snow.against_normal,
        nse=None if nse is None else nse.value,
        nse_days=None if nse is None else (as_date(nse.period.first), as_date(nse.period.last)),
    )


ColourBy = Literal["chance", "flow", "snow", "skill", "freshness"]
Palette = Literal["warning", "balance", "quality", "age"]
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A colour scale of a number of a basin.

    Attributes:
        title: name in the chooser; means: meaning, in a sentence.
        palette: `warning`: from calm to alarming. `balance`: from too little to too much. `quality`: from bad to good.
            `age`: from new to old.
        edges: a value belongs to the class whose lower edge it has reached.
        labels: of the classes, one more than edges.
        value: of a basin; None where it is not known.
        write: formats the value.
        call: the API call that returns the value.
        unknown: describes a basin without a value.
    """

    title: str
    means: str
    palette: Palette
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    value: Callable[[BasinToday], float | None]
    write: Callable[[float], str]
    call: str
    unknown: Callable[[BasinToday], str] = lambda _basin: "not known"

    def colour(self, basin: BasinToday) -> str:
        """Return the class of a basin's colour: the palette's name and a number from 0, or `unknown`."""
        value = self.value(basin)
        return UNKNOWN if value is None else f"{self.palette}-{sum(value >= edge for edge in self.edges)}"

    def written(self, basin: BasinToday) -> str:
        value = self.value(basin)
        return self.unknown(basin) if value is None else self.write(value)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The class and the label of each colour."""
        return [(f"{self.palette}-{at}", label) for at, label in enumerate(self.labels)]


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %"


def _of_normal(value: float) -> str:
    return f"{value:.0f} %" if value < 1000 else "more than 1000 %"


_PERCENT_OF_NORMAL = ("below 50 %", "50 to 80 %", "80 to 125 %", "125 to 200 %", "200 % and more")

SCALES: Mapping[ColourBy, Scale] = {
    "chance": Scale(
        title="Chance of passing a level",
        means="The highest calibrated chance that flow rises above one of the basin's levels in the next days.",
        palette="warning",
        edges=(0.05, 0.2, 0.5),
        labels=("below 5 %", "5 to 20 %", "20 to 50 %", "50 % and more"),
        value=lambda basin: basin.chance,
        write=percent,
        call="/v1/basins/{basin}/alerts",
    ),
    "flow": Scale(
        title="Flow against normal",
        means="The forecast flow of the next days in percent of the observed mean of the same days in all other years.",
        palette="balance",
        edges=(50, 80, 125, 200),
        labels=_PERCENT_OF_NORMAL,
        value=lambda basin: basin.flow_percent,
        write=_of_normal,
        call="/v1/basins/{basin}/forecasts/latest",
    ),
    "snow": Scale(
        title="Snow against normal",
        means="Water stored as snow at T0 in percent of the mean of the same day in all other years, as the model has "
        "both; without a colour where reference snow or Snow-17 lies outside the range of its members.",
        palette="balance",
        edges=(50, 80, 125, 200),
        labels=_PERCENT_OF_NORMAL,
        value=lambda basin: basin.snow_percent,
        write=_of_normal,
        call="/v1/basins/{basin}/storage",
        unknown=lambda basin: "not known" if basin.snow is None else basin.snow.in_words,
    ),
    "skill": Scale(
        title="Skill",
        means="Nash-Sutcliffe efficiency of the model on days held out of its training, which the list names: 1 is "
        "perfect, 0 no better than the mean.",
        palette="quality",
        edges=(0.3, 0.5, 0.7, 0.85),
        labels=("below 0.3", "0.3 to 0.5", "0.5 to 0.7", "0.7 to 0.85", "0.85 and more"),
        value=lambda basin: basin.nse,
        write=lambda nse: f"{nse:.2f}",
        call="/v1/basins/{basin}/skill",
    ),
    "freshness": Scale(
        title="Freshness",
        means="How many days the last past day of weather behind the newest forecast, observed or filled, lies behind "
        f"the clock: stale after {STALE_AFTER_DAYS}.",
        palette="age",
        edges=(2, STALE_AFTER_DAYS + 1, 8),
        labels=(
            "1 day or less",
            f"2 to {STALE_AFTER_DAYS} days",
            f"stale, {STALE_AFTER_DAYS + 1} to 7 days",
            "stale, 8 days and more",
        ),
        value=lambda basin: basin.weather_age_days,
        write=lambda days: f"{days:.0f} {'day' if days == 1 else 'days'}",
        call="/v1/basins/{basin}/forecasts/latest",
    ),
}
