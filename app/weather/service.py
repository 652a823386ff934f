"""Builds the answers about weather forecasts."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app.http.json_numbers import column
from app.weather.schemas import BasinWeather, WeatherDetail, WeatherIssue, WeatherOfBasin
from hydrology.base.calendar import as_date
from records.database.statements import as_values
from records.weather import weather_issues


def summaries(issues: Sequence[weather_issues.Issue]) -> list[WeatherIssue]:
    """Return weather forecasts as in a list."""
    return [WeatherIssue(**as_values(issue)) for issue in issues]


def detail(session: Session, issue: str, at: datetime) -> WeatherDetail:
    """Return a weather forecast as known at an instant.

    Raises:
        UnknownWeather: there is none of that id.
    """
    basins = [
        WeatherOfBasin(
            basin=part.basin_id,
            available_time=part.available_time,
            first_day=as_date(part.first),
            last_day=as_date(part.last),
            traces=len(part.traces),
            variables=list(part.variables),
        )
        for part in weather_issues.parts_of(session, issue, at)
    ]
    return WeatherDetail(**as_values(weather_issues.get(session, issue)), basins=basins)


def of_basin(session: Session, issue: str, basin: str, at: datetime) -> BasinWeather:
    """Return the forecast weather of a basin.

    Raises:
        UnknownWeather: there is none of that id, or it was not known for the basin at the instant.
    """
    forecast = weather_issues.read(session, issue, basin, at)
    return BasinWeather(
        id=issue,
        **as_values(forecast.issue),
        basin=basin,
        units=dict(forecast.units),
        time=[as_date(day) for day in forecast.period.days],
        traces={
            label: {name: column(values[trace]) for name, values in forecast.values.items()}
            for trace, label in enumerate(forecast.traces)
        },
    )
