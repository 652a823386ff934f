"""Weather forecasts from files into the records."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hydrology.base.errors import DataProblem
from hydrology.weather.forcing import WeatherForecast
from ingestion import weather as files_of_weather
from ingestion.reading import ANY_FILES, Files
from operations.data.check_weather import ImpossibleWeather, check_forecast
from records.database.engine import Database
from records.weather import weather_issues
from records.weather.weather_issues import StoredIssue
from runtime.clock import Clock


class NoWeather(DataProblem):
    """Of no basin is there a weather forecast that can be kept."""

    kind = "no-weather"


def add(
    database: Database, clock: Clock, path: Path, files: Files = ANY_FILES, *, operational: bool = True
) -> StoredIssue:
    """Keep the weather forecast of a file. What cannot be used is refused by basin, and the rest is kept.

    Args:
        files: which files may be read.
        operational: see `records.weather.weather_issues.Issue`.

    Raises:
        SourceError, InvalidInput: the file cannot be used.
        NoWeather: nothing of it can be kept.
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
    """Return why nothing is kept."""
    reasons = list(refused.values())
    if not reasons:
        return "The weather forecast holds no basin: give one at least."
    return f"Nothing of the weather forecast can be kept. {reasons[0]}" + (
        f" And {len(reasons) - 1} more." if reasons[1:] else ""
    )
