"""The series of a collection's gauges as one table, which `app.exports.coveragejson` writes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Response
from sqlalchemy.orm import Session

from app.basins.observations import service as observations
from app.basins.observations import table as observation_table
from app.basins.observations.service import DISCHARGE
from app.basins.series_requests import MAX_DAYS, SeriesRequest
from app.edr import selection
from app.edr.collections import FORECASTS, Collection
from app.edr.parameters import AskedSubject, Datetime, ParameterNames, Subject
from app.exports.answers import CoverageAnswer
from app.exports.basins import NOWHERE, basin_columns
from app.exports.table import Column, Table, stacked
from app.forecasts import lookup, service
from app.forecasts import table as forecast_table
from app.forecasts.batch import MAX_BASINS
from app.forecasts.discharge import Representation
from app.forecasts.table import day_columns
from app.http.problems import refused
from hydrology.base.calendar import day, days_between
from hydrology.base.errors import NotFound
from records.basins.basins import sites
from records.forecasts.latest import Latest
from records.series import series
from records.series.series import NoObservations

MAX_OBSERVED = 100
"""Gauges whose observed flow one answer holds."""


class OutsideForecast(NotFound):
    """The forecast has no day of the interval: `detail` names its days."""

    kind = "outside-forecast"
    remedy = "Ask for days that `detail` names, or leave `datetime` out for the whole forecast."


@dataclass(frozen=True, slots=True)
class Series:
    """Answers a request with the series of gauges, limited to its parameters and days."""

    subject: Subject
    answer: CoverageAnswer
    names: ParameterNames
    days: Datetime

    def of_gauge(self, collection: Collection, basin: str) -> Response:
        """Answer with the series of one gauge of a collection.

        Raises:
            NoObservations: it has no data in the interval.
            OutsideForecast: its forecast has no day of the interval.
            InvalidRequest: a parameter or day cannot be used.
        """
        if collection.id == FORECASTS:
            (table,) = self._forecasts(collection, [basin])
            self._require_a_day(table, basin)
            return self._answer(collection, [table])
        return self._answer(collection, [self._observed(collection, basin)])

    def of_gauges(self, collection: Collection, basins: Sequence[str], field: str) -> Response:
        """Answer with the series of those gauges that have data in the interval; a collection without coverages for
        none.

        Args:
            field: the parameter that chose them.

        Raises:
            InvalidRequest: they are too many, or a parameter or day cannot be used.
        """
        limit = MAX_BASINS if collection.id == FORECASTS else MAX_OBSERVED
        if len(basins) > limit:
            raise refused(field, f"{len(basins)} gauges lie there, and one answer holds {limit}: ask for a part.")
        if collection.id == FORECASTS:
            return self._answer(collection, self._forecasts(collection, basins))
        tables = []
        for basin in basins:
            with suppress(NoObservations):
                tables.append(self._observed(collection, basin))
        return self._answer(collection, tables)

    def _require_a_day(self, table: Table, basin: str) -> None:
        """Raise OutsideForecast where a gauge's forecast has no day of the interval."""
        days = selection.days_of(table)
        if days and not selection.inside(days, selection.days(self.days)):
            raise OutsideForecast(f"The forecast of {basin} is for {min(days)} to {max(days)}: ask for some of them.")

    def _answer(self, collection: Collection, tables: Sequence[Table]) -> Response:
        chosen, between = selection.parameters(self.names, collection.columns), selection.days(self.days)
        if len(tables) == 1:
            whole = tables[0]
        else:
            parts = [table.columns for table in tables] or [empty_columns(collection)]
            whole = stacked(collection.id, collection.title, parts)
        part = selection.narrowed(whole, chosen, between)
        return self.answer.file(part.tag, lambda: part)

    def _forecasts(self, collection: Collection, basins: Sequence[str]) -> list[Table]:
        session, at = self.subject.session, self.subject.at
        found = [
            lookup.of_run(session, collection.run, basin) if collection.run else lookup.latest(session, basin, at)
            for basin in basins
        ]
        return _forecasts(session, found, Representation("m3/s", members=False, at=None if collection.run else at))

    def _observed(self, collection: Collection, basin: str) -> Table:
        session = self.subject.session
        start, end = (None if bound is None else day(bound) for bound in selection.days(self.days))
        record = series.extent(session, [basin], collection.product, [DISCHARGE]).get((basin, DISCHARGE))
        if self.days is not None and record is not None:  # an open end is that of the record
            first, last = record.first if start is None else start, record.last if end is None else end
            if (days := days_between(first, last) + 1) > MAX_DAYS:
                raise refused("datetime", f"those are {days} days, and one answer holds {MAX_DAYS}: ask for a part.")
            start, end = (first, last) if first <= last else (start, end)
        request = SeriesRequest(product=collection.product, variable=DISCHARGE, start=start, end=end)
        answer = observations.answer(session, observations.part(session, basin, request))
        return observation_table.of_observations(answer, sites(session, [basin]))


def empty_columns(collection: Collection) -> list[Column]:
    """Return the columns of an answer without gauges."""
    return [*basin_columns("", NOWHERE, 0), *day_columns([], []), *collection.columns]


def _series(
    subject: AskedSubject, answer: CoverageAnswer, names: ParameterNames = None, days: Datetime = None
) -> Series:
    return Series(subject, answer, names, days)


AskedSeries = Annotated[Series, Depends(_series)]


def _forecasts(session: Session, found: Sequence[Latest], form: Representation) -> list[Table]:
    parts = service.stored_parts(session, found, members=False)
    forecasts = [service.basin_forecast(one, stored, form) for one, stored in zip(found, parts, strict=True)]
    places = sites(session, [forecast.basin for forecast in forecasts])
    return [forecast_table.of_one(forecast, places) for forecast in forecasts]
