"""Past weather from Open-Meteo's archive of reanalyses."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from hydrology.base.calendar import Day, Period
from hydrology.base.credit import Credit
from hydrology.base.errors import Problem
from hydrology.base.variables import WEATHER
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem, Given, Observations, Site, Wanted, placed, possible
from ingestion.feeds.http import Service
from ingestion.feeds.openmeteo.asking import LICENCE, UNITS, Array, Place, ask, converted, owner, query
from ingestion.feeds.openmeteo.quota import in_requests, weight_of_place

PATH = "/v1/archive"


class OpenMeteoArchive:
    """The weather of past days at gauges, from a named model.

    Args:
        service: the host of the archive.
        model: `era5`, `era5_land`, `ecmwf_ifs`, …
        report: called with the cost of a fetch, before the request.
    """

    def __init__(self, service: Service, model: str, report: Callable[[str], None] = lambda _sentence: None) -> None:
        self._service, self._model, self._report = service, model, report
        self.credit = Credit(owner(model), LICENCE)

    def fetch(self, sites: Sequence[Site], wanted: Wanted) -> Iterator[Given]:
        """Yield the weather of the requested days that the archive has already.

        Raises:
            FeedProblem: the fetch costs more than the service allows.
        """
        known, unknown = placed(sites)
        yield from unknown
        weight = weight_of_place(len(UNITS), len(wanted.days))
        self._report(f"The fetch weighs {weight * len(known):.0f} calls by Open-Meteo's count.")
        for part in list(in_requests(known, weight, keyless=self._service.key is None)):
            yield from self._part(part, wanted)

    def _part(self, sites: Sequence[Site], wanted: Wanted) -> list[Given]:
        days = {"start_date": [str(wanted.days.first)], "end_date": [str(wanted.days.last)]}
        try:
            places = ask(self._service, PATH, sites, query(sites, self._model, days))
        except FeedProblem as problem:
            return [Given(site.basin, problem) for site in sites]
        return [
            Given(site.basin, self._content(site, place, wanted)) for site, place in zip(sites, places, strict=True)
        ]

    def _content(self, site: Site, place: Place | FeedProblem, wanted: Wanted) -> Observations | Problem:
        try:
            return place if isinstance(place, FeedProblem) else self._observations(site, place, wanted)
        except Problem as problem:  # also an unknown time zone
            return problem

    def _observations(self, site: Site, place: Place, wanted: Wanted) -> Observations:
        if len(place.members) != 1:
            raise FeedProblem(f"The archive gives several members for {site.basin}: nothing of it was taken.")
        (values,) = place.members.values()
        days = _complete(place, values, wanted.last_of(site, place.time_zone))
        origin = f"{self._service.base}{PATH} {self._model} {site.basin} cell {place.cell[0]:g},{place.cell[1]:g}"
        if days is None:
            return Observations({}, origin, place.time_zone)
        latitude, _ = site.place()
        variables = {
            name: daily_series(place.days, series, WEATHER[name].unit).over(days)
            for name, series in converted(values, place.days, latitude).items()
        }
        return possible(site.basin, Observations(variables, origin, place.time_zone))


def _complete(place: Place, values: Mapping[str, Array], last: Day) -> Period | None:
    """Return the ended days with every variable, from first to last. The archive's last days fill up later."""
    whole = ~np.isnan(np.stack(list(values.values()))).any(axis=0) & (place.days <= last)
    days = place.days[whole]
    return Period(days[0], days[-1]) if len(days) else None
