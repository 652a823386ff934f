"""Imports weather forecasts from files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hydrology.base.errors import DataProblem
from hydrology.weather.forcing import WeatherForecast
from ingestion import weather as files_of_weather
from ingestion.reading import ANY_FILES, Files
from operations.basin_data.check_weather import ImpossibleWeather, check_forecast
from records.database.engine import Database
from records.weather import weather_issues
from records.weather.weather_issues import StoredIssue
from runtime.clock import Clock


class NoWeather(DataProblem):
    """No basin has a weather forecast that can be stored."""

    kind = "no-weather"


def add(
    database: Database, clock: Clock, path: Path, files: Files = ANY_FILES, *, operational: bool = True
) -> StoredIssue:
    """Import a weather forecast from a file. Refuse it per basin where unusable, and store the rest.

    Args:
        files: which files may be read.
        operational: see `records.weather.weather_issues.Issue`.

    Raises:
        SourceError, InvalidInput: the file cannot be used.
        NoWeather: none of it can be stored.
    """
    read = files_of_weather.read(path, clock.now(), files)
    if not read.forecasts:
        raise NoWeather(_why(read.refused))
    refused, warnings, usable = dict(read.refused), dict[str, tuple[str, ...]](), list[WeatherForecast]()
    with database.reading() as session:
        for forecast in read.forecasts:
            try:
                if odd := check_forecast(session, forecast):
                    warnings[forecast.basin] = tuple(odd)
                usable.append(forecast)
            except ImpossibleWeather as problem:
                refused[forecast.basin] = f"{path.name}: {problem}"
    if not usable:
        raise NoWeather(_why(refused))
    with database.transaction() as session:
        stored = weather_issues.store(session, usable, clock.wall(), operational=operational)
        if not stored.new and not stored.known:
            raise NoWeather(_why(stored.refused))
    return replace(stored, refused={**refused, **stored.refused}, warnings=warnings)


def _why(refused: Mapping[str, str]) -> str:
    """Return why nothing is stored."""
    reasons = list(refused.values())
    if not reasons:
        return "The weather forecast holds no basin: give one at least."
    return f"No part of the weather forecast can be stored. {reasons[0]}" + (
        f" And {len(reasons) - 1} more." if reasons[1:] else ""
    )
