"""Checks incoming data before it is stored: its days have ended; its weather agrees with itself, sun and climate."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.basins import TIME_ZONE
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem, Finding
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.check_weather import weather_findings
from hydrology.weather.climate import BasinClimate
from hydrology.weather.daily_weather import CHECKED, DailyWeather
from hydrology.weather.forcing import WeatherForecast
from ingestion.base import BasinData, SourceError, SourceSeries
from ingestion.daily import ReadSeries
from operations.basin_data.basins import last_ended
from records.basins import basins
from records.basins.ownership import Basin
from records.database.stored import grouped
from records.series import series


@dataclass(frozen=True, slots=True)
class Reference:
    """What incoming data of a basin are checked against: its facts, and its climate by product of its weather.

    The climate of product None is that of the longest record; None where unknown.
    """

    basin: Basin
    climates: Mapping[str | None, BasinClimate | None]


def read_references(session: Session, names: Sequence[str], products: Iterable[str | None]) -> dict[str, Reference]:
    """Read what data of basins are checked against; basins that are not stored are left out."""
    found = basins.get_many(session, basins.known(session, names))
    by_product = {product: climates(session, [*found.values()], product) for product in products}
    return {
        name: Reference(basin, {product: of[name] for product, of in by_product.items()})
        for name, basin in found.items()
    }


def ended_only(session: Session, data: BasinData, now: datetime, reference: Reference | None = None) -> BasinData:
    """Return a basin's data without the valueless days that have not ended at it.

    Now is by the service's clock; of an archive by the machine's, because a service that replays it stands before its
    end. Without a reference it is read here, as `check_observed` does.
    """
    if not data.series:
        return data
    last = last_ended(_place(session, data, reference), now)
    return replace(data, series=tuple(ended for one in data.series if (ended := _ended(data.basin, one, last, now))))


def _place(session: Session, data: BasinData, reference: Reference | None) -> Basin:
    """Return the place by which days end; the stored basin, unless the data state their time zone."""
    if not data.texts.get(TIME_ZONE):
        reference = reference or read_references(session, [data.basin], ()).get(data.basin)
        if reference is not None:
            stored = reference.basin
            return stored if data.longitude is None else replace(stored, longitude=data.longitude)
    return Basin(data.basin, longitude=data.longitude, texts=data.texts)


def _ended(basin: str, one: SourceSeries, last: Day, now: datetime) -> SourceSeries | None:
    daily = one.series
    if daily.period.last <= last:
        return one
    stated = ~np.isnan(daily.values) | (daily.flags & Flag.SUSPECT != 0)
    if (future := stated & (daily.days > last)).any():
        at = int(future.argmax())
        column, line = (daily.column, int(daily.lines[at])) if isinstance(daily, ReadSeries) else (one.variable, 0)
        raise SourceError(
            one.file.name,
            f"{column} on {daily.days[at]} ({daily.values[at]:g}) is of a day that has not ended at {basin}, where "
            f"{last} is the last that has, by the clock of the service, which stands at {now:%Y-%m-%dT%H:%MZ}",
            "correct the date, or send the day when it has ended",
            line or None,
        )
    return replace(one, series=daily.over(Period(daily.start, last))) if daily.start <= last else None


CLIMATE_VARIABLES = ("precipitation", "tmax", "tmin")
CLIMATE_DAYS = 10 * 366
"""Length of the climate: the last days of the record."""
_MAX_SENTENCES = 3


class ImpossibleWeather(DataProblem):
    """Weather cannot be what it is labelled as."""


def check_observed(
    session: Session, given: Sequence[BasinData], references: Mapping[str, Reference]
) -> tuple[list[BasinData], dict[str, list[str]]]:
    """Check a source's weather together with the stored weather of the same days, and the basins' as it is stored.

    Return the data, with the days on which tmin is above tmax flagged suspect, and the warnings by basin.
    """
    weather: dict[tuple[str, str], dict[str, SourceSeries]] = {}
    for data in given:
        for one in data.series:
            if one.variable in CHECKED and len(one.series):
                weather.setdefault((data.basin, one.product), {})[one.variable] = one
    if unread := sorted({basin for basin, _ in weather if basin not in references}):
        references = {**references, **read_references(session, unread, {product for _, product in weather})}
    stored, warnings = _stored(session, weather), {data.basin: list[str]() for data in given}
    checked: dict[tuple[str, str, str], SourceSeries] = {}
    for (basin, product), of_files in weather.items():
        incoming = {name: one.series for name, one in of_files.items()}
        reference, of_days = references[basin], incoming | stored[basin, product]
        found, known = (
            weather_findings(
                DailyWeather.of_series(product, one, reference.basin.latitude, reference.climates[product])
            )
            for one in (of_days, stored[basin, product])
        )
        found = _of_incoming(found, incoming, known)
        files = {name: one.file.name for name, one in of_files.items()}
        refuse(found, files)
        warnings[basin] += sentences(found, "warning", files)
        for name, daily in _flagged(incoming, of_days).items():
            checked[basin, product, name] = replace(of_files[name], series=daily)
    flagged = [
        replace(data, series=tuple(checked.get((data.basin, one.product, one.variable), one) for one in data.series))
        for data in given
    ]
    return flagged, warnings


def check_forecast(forecast: WeatherForecast, reference: Reference | None) -> list[str]:
    """Return warnings on a basin's weather forecast, none for an unknown basin."""
    if reference is None:
        return []
    name, climate = f"the weather forecast of {forecast.basin}", reference.climates[None]
    weather = DailyWeather(name, forecast.period.days, forecast.values, reference.basin.latitude, climate)
    found = weather_findings(weather)
    refuse(found)
    return sentences(found, "warning")


def climates(session: Session, stored: Sequence[Basin], product: str | None = None) -> dict[str, BasinClimate | None]:
    """Return the climate of basins, from their stored weather or else their attribute `p_mean`; None without either.

    It is of the preferred product, else of the one with the longest record.
    """
    found = {one.id: BasinClimate.of_attribute(one.attributes.get("p_mean", np.nan)) for one in stored}
    longest = series.longest_records(session, [*found], CLIMATE_VARIABLES, product)
    for (chosen, years), names in grouped((record, basin) for basin, record in longest.items()).items():
        period = Period(max(years.first, years.last - np.timedelta64(CLIMATE_DAYS - 1, "D")), years.last)
        for basin, of_basin in series.read_product(session, names, chosen, CLIMATE_VARIABLES, period):
            readable = {name: daily for name, daily in of_basin.items() if isinstance(daily, DailySeries)}
            values = {name: daily.over(period).values for name, daily in readable.items()}
            climate, of_attribute = BasinClimate.of_record(f"the stored {chosen}", period.days, values), found[basin]
            if of_attribute is not None and np.isnan(climate.precipitation).all():
                both = f"{climate.source} with {of_attribute.source}"
                climate = replace(climate, source=both, precipitation=of_attribute.precipitation)
            found[basin] = climate
    return found


def refuse(found: Iterable[Finding], files: Mapping[str, str] | None = None) -> None:
    """Raise if a finding is an error; the message names the file of each variable."""
    if errors := sentences(found, "error", files):
        more = len(errors) - _MAX_SENTENCES
        raise ImpossibleWeather(" ".join(errors[:_MAX_SENTENCES]) + (f" And {more} more." if more > 0 else ""))


def sentences(found: Iterable[Finding], severity: str, files: Mapping[str, str] | None = None) -> list[str]:
    """Return the messages of findings of one severity, each preceded by its file name."""
    names = files or {}
    return [
        f"{names[variable]}: {finding.sentence}"
        if (variable := finding.detail["variable"]) in names
        else finding.sentence
        for finding in found
        if finding.severity == severity
    ]


def _of_incoming(found: Iterable[Finding], incoming: Collection[str], known: Iterable[Finding]) -> list[Finding]:
    old = {(finding.code, finding.detail["variable"]) for finding in known}
    return [
        finding
        for finding in found
        if finding.detail["variable"] in incoming or (finding.code, finding.detail["variable"]) not in old
    ]


def _stored(
    session: Session, incoming: Mapping[tuple[str, str], Mapping[str, SourceSeries]]
) -> dict[tuple[str, str], dict[str, DailySeries]]:
    """Return the stored other variables of the same days, by basin and product."""
    alike = grouped(((product, _span(given), frozenset(given)), basin) for (basin, product), given in incoming.items())
    found: dict[tuple[str, str], dict[str, DailySeries]] = {}
    for (product, period, given), names in alike.items():
        others = [name for name in CHECKED if name not in given]
        for basin, stored in series.read_product(session, names, product, others, period):
            readable = {name: daily for name, daily in stored.items() if isinstance(daily, DailySeries)}
            found[basin, product] = readable  # new data replace damaged ones
    return found


def _span(given: Mapping[str, SourceSeries]) -> Period:
    periods = [one.series.period for one in given.values()]
    return Period(min(period.first for period in periods), max(period.last for period in periods))


def _flagged(incoming: Mapping[str, DailySeries], beside: Mapping[str, DailySeries]) -> dict[str, DailySeries]:
    if "tmin" not in beside or "tmax" not in beside:
        return {}
    shared = beside["tmin"].period.overlap(beside["tmax"].period)
    if shared is None:
        return {}
    crossed = shared.days[beside["tmin"].over(shared).values > beside["tmax"].over(shared).values]
    if not len(crossed):
        return {}
    flagged = {}
    for name in ("tmin", "tmax"):
        if (daily := incoming.get(name)) is not None:
            suspect = np.where(np.isin(daily.days, crossed), Flag.SUSPECT, 0).astype(np.uint8)
            flagged[name] = replace(daily, flags=daily.flags | suspect)
    return flagged
