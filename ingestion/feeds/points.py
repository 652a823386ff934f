"""Averages weather over the sampling points of a basin, for any service."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hydrology.base.calendar import Period, zone_of_longitude
from hydrology.base.errors import Problem
from hydrology.base.products import Credit
from hydrology.base.series import DailySeries
from hydrology.weather.forcing import WeatherForecast
from ingestion.feeds.base import Feed, FeedProblem, FetchedBasinData, FetchWindow, Observations, Site


class OverPoints:
    """A feed of weather whose data are averaged over the points of each basin."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    @property
    def credit(self) -> Credit:
        """The credit of the feed."""
        return self._feed.credit

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield for every site the mean over its points, or the reason for none; without points, the feed's result."""
        of_point = {point.basin: site for site in sites for point in _points(site)}
        points = [point for site in sites for point in _points(site)]
        answers: dict[str, list[FetchedBasinData]] = {}
        for given in self._feed.fetch(points, wanted):
            site = of_point[given.basin]
            of_site = answers.setdefault(site.basin, [])
            of_site.append(given)
            if len(of_site) == max(1, len(site.points)):
                yield _together(site, of_site)


def _points(site: Site) -> list[Site]:
    """Return a site's points as sites of their own, with the calendar days of its gauge."""
    if not site.points:
        return [site]
    zone = site.time_zone or zone_of_longitude(site.longitude or site.points[0][1])
    return [
        replace(site, basin=f"{site.basin} point {number}", latitude=latitude, longitude=longitude, time_zone=zone)
        for number, (latitude, longitude) in enumerate(site.points, start=1)
    ]


def _together(site: Site, answers: Sequence[FetchedBasinData]) -> FetchedBasinData:
    if not site.points:
        return answers[0]
    contents = [given.content for given in sorted(answers, key=lambda given: given.basin)]
    if problem := next((content for content in contents if isinstance(content, Problem)), None):
        return FetchedBasinData(site.basin, problem)
    observed = [content for content in contents if isinstance(content, Observations)]
    try:
        return FetchedBasinData(
            site.basin, _mean_observed(site, observed) if observed else _mean_forecast(site, contents)
        )
    except Problem as problem:
        return FetchedBasinData(site.basin, problem)


def _mean_observed(site: Site, observed: Sequence[Observations]) -> Observations:
    """Return the mean of observations, on the days that every point has."""
    origin = "; ".join(each.origin for each in observed)
    names = [each.variables.keys() for each in observed]
    if any(each != names[0] for each in names):
        raise FeedProblem(f"The points of {site.basin} have different variables: nothing of it was taken.")
    variables = {}
    for name in names[0]:
        series = [each.variables[name] for each in observed]
        first, last = max(each.period.first for each in series), min(each.period.last for each in series)
        if last < first:
            raise FeedProblem(f"The points of {site.basin} have no day of {name} in common: nothing of it was taken.")
        parts = [each.over(Period(first, last)) for each in series]
        values = np.mean([part.values for part in parts], axis=0)
        flags = np.bitwise_or.reduce([part.flags for part in parts])
        variables[name] = DailySeries(first, values, flags, parts[0].unit)
    # The points have the gauge's zone; where that is unknown, only that of its meridian.
    return Observations(variables, origin, site.time_zone)


def _mean_forecast(site: Site, contents: Sequence[object]) -> WeatherForecast:
    """Return the mean of forecasts of the same run and days, trace by trace."""
    forecasts = [content for content in contents if isinstance(content, WeatherForecast)]
    first = forecasts[0]
    for other in forecasts[1:]:
        if (other.issue, other.traces, other.period) != (first.issue, first.traces, first.period):
            raise FeedProblem(
                f"The points of {site.basin} have forecasts of different runs or days. Nothing was taken: fetch again."
            )
    values = {}
    for name in first.values:
        of_points = np.stack([forecast.values[name] for forecast in forecasts])
        values[name] = of_points.mean(axis=0, dtype=np.float64).astype(np.float32)
    return replace(first, basin=site.basin, values=values)
