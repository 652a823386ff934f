"""Opens feeds of grids, and reads the weather forecast that `freshet weather add --grid` stores."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from extensions.grid.basin_days import BasinDays
from extensions.grid.feed_kinds import GridForecastSettings, GridSettings
from extensions.grid.reading import GridReader, GridWeather
from hydrology.base.arrays import Mask
from hydrology.base.calendar import Days, Period, instant
from hydrology.base.errors import Problem
from hydrology.base.products import WEATHER, Credit
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from ingestion.base import ANY_FILES, Files
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site, each, possible
from ingestion.feeds.http import FeedAccess
from ingestion.weather_files import WeatherFile
from operations.basin_data.sources import IsolatedReader

WEIGHTS = "grid-weights"
"""The folder of stored weights within that of the service's data."""
_NO_NAME = re.compile(r"[^0-9A-Za-z_.-]+")


class GridFeed:
    """The weather of basins from grids: observed, or of a model's newest run."""

    credit = Credit("Weather on grids from files of this service's operator.", "as its operator states")

    def __init__(self, places: Sequence[str], model: str | None, access: FeedAccess) -> None:
        self._paths, self._files = access.read_places(places)
        self._model, self._access = model, access

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the weather of each basin, or why there is none."""
        return each(sites, partial(self._ask, sites, wanted), partial(self._content, wanted))

    def _ask(self, sites: Sequence[Site], wanted: FetchWindow) -> GridWeather:
        days = wanted.days if self._model is None else None
        try:
            weather = read(self._paths, self._files, sites, days, self._access.data)
        except Problem as problem:
            raise FeedProblem(str(problem)) from None
        for note in weather.notes:
            self._access.report(note)
        return weather

    def _content(self, wanted: FetchWindow, site: Site, weather: GridWeather) -> Observations | WeatherForecast:
        if self._model is None:
            return _observations(site, weather, wanted, ", ".join(map(str, self._paths)))
        return _forecast(_issue(weather, wanted.now, self._model), site.basin, weather)


def observed_feed(settings: GridSettings, access: FeedAccess) -> GridFeed:
    """Open a feed of observed weather."""
    return GridFeed(settings.from_, None, access)


def forecast_feed(settings: GridForecastSettings, access: FeedAccess) -> GridFeed:
    """Open a feed of weather forecasts."""
    return GridFeed(settings.from_, settings.model, access)


def read_forecast(path: Path, sites: Sequence[Site], received: datetime, data: Path) -> WeatherFile:
    """Read a weather forecast on grids: the newest run in a file, a store or a folder."""
    weather = read([path], ANY_FILES, sites, None, data)
    issue = _issue(weather, received, _name(weather.model) or _name(path.stem))
    forecasts, refused = [], {f"part {number}": note for number, note in enumerate(weather.notes, 1)}
    for site in sites:
        try:
            forecasts.append(_forecast(issue, site.basin, weather))
        except Problem as problem:
            refused[site.basin] = str(problem)
    return WeatherFile(issue, forecasts, refused)


def read(
    paths: Sequence[Path], files: Files, sites: Sequence[Site], wanted: Period | None, data: Path | None
) -> GridWeather:
    """Read the weather of basins, in a process of its own; `wanted` days of observations, or the newest run."""
    weights = None if data is None else data / WEIGHTS
    with IsolatedReader(partial(GridReader, paths, sites, wanted, weights), files.roots) as reader:
        weather: GridWeather = reader.ask("read")
    return weather


def _issue(weather: GridWeather, received: datetime, model: str) -> WeatherIssue:
    assert weather.reference is not None
    return WeatherIssue(
        source=_name(weather.source) or "grid",
        model=model,
        reference_time=weather.reference.astype(datetime).replace(tzinfo=UTC),
        available_time=received if weather.issued is None else instant(weather.issued),
    )


def _name(text: str) -> str:
    return _NO_NAME.sub("-", text)[:64].strip("-")


def _of_basin(weather: GridWeather, basin: str) -> BasinDays:
    if basin in weather.problems:
        raise FeedProblem(weather.problems[basin])
    return weather.basins[basin]


def _forecast(issue: WeatherIssue, basin: str, weather: GridWeather) -> WeatherForecast:
    """Return the first days in a row that are whole, with every variable of every member."""
    of = _of_basin(weather, basin)
    whole: Mask = np.asarray(~np.isnan(np.stack([*of.values.values()])).any(axis=(0, 1)))
    if not whole.any():
        raise FeedProblem(f"The run has no whole day for {basin}, with every step of every member.")
    first = int(whole.argmax())
    end = first + (int((~whole[first:]).argmax()) or len(whole) - first)
    return WeatherForecast(
        issue=issue,
        basin=basin,
        traces=of.members,
        first=of.days[first],
        values={name: values[:, first:end].astype(np.float32) for name, values in of.values.items()},
        units={name: WEATHER[name].unit for name in of.values},
    )


def _observations(site: Site, weather: GridWeather, wanted: FetchWindow, origin: str) -> Observations:
    """Return the requested days that have ended, from the first to the last with a value."""
    of = _of_basin(weather, site.basin)
    if len(of.members) != 1:
        raise FeedProblem(f"The grid has {len(of.members)} members, and an observation has one: nothing was taken.")
    inside = (of.days >= wanted.days.first) & (of.days <= wanted.last_of(site))
    variables = {}
    for name, values in of.values.items():
        (known,) = np.nonzero(inside & ~np.isnan(values[0]))
        if len(known):
            span = slice(int(known[0]), int(known[-1]) + 1)
            days: Days = of.days[span]
            variables[name] = daily_series(days, values[0, span], WEATHER[name].unit)
    return possible(site.basin, Observations(variables, f"{origin} {site.basin}"))
