"""Past weather from Open-Meteo's archive of reanalyses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from hydrology.base.calendar import Day, Period
from hydrology.base.credit import Credit
from hydrology.base.variables import WEATHER
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem, Given, Observations, Site, Wanted, each, placed, possible
from ingestion.feeds.http import Service
from ingestion.feeds.openmeteo.asking import (
    LICENCE,
    UNITS,
    Array,
    Place,
    ask,
    converted,
    in_requests,
    owner,
    place,
    query,
    weight_of_place,
)

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
        days = {"start_date": [str(wanted.days.first)], "end_date": [str(wanted.days.last)]}
        for part in in_requests(known, weight, keyless=self._service.key is None):
            asked = query(part, self._model, days)
            yield from each(
                part,
                partial(ask, self._service, PATH, part, asked),
                lambda site, answer: self._observations(site, place(site, answer, self._model), wanted),
            )

    def _observations(self, site: Site, of: Place, wanted: Wanted) -> Observations:
        if len(of.members) != 1:
            raise FeedProblem(f"The archive gives several members for {site.basin}: nothing of it was taken.")
        (values,) = of.members.values()
        days = _complete(of, values, wanted.last_of(site, of.time_zone))
        origin = f"{self._service.base}{PATH} {self._model} {site.basin} cell {of.cell[0]:g},{of.cell[1]:g}"
        if days is None:
            return Observations({}, origin, of.time_zone)
        latitude, _ = site.place()
        variables = {
            name: daily_series(of.days, series, WEATHER[name].unit).over(days)
            for name, series in converted(values, of.days, latitude).items()
        }
        return possible(site.basin, Observations(variables, origin, of.time_zone))


def _complete(of: Place, values: Mapping[str, Array], last: Day) -> Period | None:
    """Return the ended days with every variable, from first to last. The archive's last days fill up later."""
    whole = ~np.isnan(np.stack(list(values.values()))).any(axis=0) & (of.days <= last)
    days = of.days[whole]
    return Period(days[0], days[-1]) if len(days) else None
