"""Past weather from Open-Meteo's archive of reanalyses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from extensions.openmeteo.asking import Model, Place, converted, placed
from extensions.openmeteo.columns import Array
from hydrology.base.calendar import Day, Period
from hydrology.base.products import WEATHER
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site, each, possible
from ingestion.feeds.http import Service

PATH = "/v1/archive"


class OpenMeteoArchive:
    """The weather of past days at gauges, from a named model.

    `model` is `era5`, `era5_land`, `ecmwf_ifs`, …; `report` gets the cost of a fetch, before the request.
    """

    def __init__(self, service: Service, model: str, report: Callable[[str], None] = lambda _sentence: None) -> None:
        self._model = Model(service, PATH, model, report)
        self.credit = self._model.credit

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the weather of the requested days that the archive has already."""
        known, unknown = placed(sites)
        yield from unknown
        days = {"start_date": [str(wanted.days.first)], "end_date": [str(wanted.days.last)]}
        for part in self._model.parts(known, 1, len(wanted.days)):
            ask = partial(self._model.ask, part, days)
            yield from each(part, ask, lambda site, answer: self._observations(site, answer, wanted))

    def _observations(self, site: Site, answer: Mapping[str, Any], wanted: FetchWindow) -> Observations:
        of = self._model.place(site, answer)
        if len(of.members) != 1:
            raise FeedProblem(f"The archive gives several members for {site.basin}: nothing of it was taken.")
        (values,) = of.members.values()
        days = _complete(of, values, wanted.last_of(site, of.time_zone))
        model = self._model
        origin = f"{model.service.base}{PATH} {model.name} {site.basin} cell {of.cell[0]:g},{of.cell[1]:g}"
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
