"""The series of a collection's gauges as one table, which `app.exports.formats` writes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from fastapi import Depends, Response
from sqlalchemy.orm import Session

from app.basins.observations import DISCHARGE, observation_query, observations_of, table_of
from app.basins.queries import MAX_DAYS, USUAL_DAYS, SeriesRequest
from app.exports.answers import CoverageAnswer
from app.exports.table import NOWHERE, Column, Table, basin_columns, day_columns, stacked
from app.forecasts import endpoints as forecast_table
from app.forecasts import lookup
from app.forecasts.discharge import Representation
from app.forecasts.forecast import basin_forecast, stored_parts
from app.forecasts.lookup import MAX_BASINS
from app.http.limits.costs import RequestBudget
from app.http.problems import refused
from extensions.edr import FORECASTS
from extensions.edr.collections import Collection
from extensions.edr.parameters import (
    AskedSubject,
    Datetime,
    ParameterNames,
    Subject,
    days_of,
    inside,
    narrowed,
    read_days,
    read_parameters,
)
from hydrology.base.calendar import day, days_between
from hydrology.base.errors import NotFound, counted
from records.basins.basins import sites
from records.forecasts.latest import Latest, result_of
from records.series import series
from records.series.series import NoObservations

MAX_OBSERVED = 100
"""Gauges whose observed flow one answer holds."""
VALUES_A_DAY = 2
"""Of a gauge: its discharge and its flags."""


class OutsideForecast(NotFound):
    """The forecast has no day of the interval: `detail` names its days."""

    remedy = "Ask for days that `detail` names, or leave `datetime` out for the whole forecast."


@dataclass(frozen=True, slots=True)
class Series:
    """Answers a request with the series of gauges, limited to its parameters and days."""

    subject: Subject
    answer: CoverageAnswer
    names: ParameterNames
    days: Datetime
    budget: RequestBudget

    def of_gauge(self, collection: Collection, basin: str) -> Response:
        """Answer with the series of one gauge of a collection."""
        if collection.id == FORECASTS:
            (table,) = self._forecasts(collection, [basin])
            self._require_a_day(table, basin)
            return self._answer(collection, [table])
        requests = self._observation_requests(collection, [basin])
        return self._answer(collection, [self._observed(basin, requests[basin])])

    def of_gauges(self, collection: Collection, basins: Sequence[str], field: str) -> Response:
        """Answer with the series of gauges that have data in the interval, maybe of none."""
        limit = MAX_BASINS if collection.id == FORECASTS else MAX_OBSERVED
        if len(basins) > limit:
            raise refused(field, f"{len(basins)} gauges lie there, and one answer holds {limit}: ask for a part.")
        if collection.id == FORECASTS:
            return self._answer(collection, self._forecasts(collection, basins, field))
        tables = []
        for basin, request in self._observation_requests(collection, basins).items():
            with suppress(NoObservations):
                tables.append(self._observed(basin, request))
        return self._answer(collection, tables)

    def _require_a_day(self, table: Table, basin: str) -> None:
        """Raise OutsideForecast where a gauge's forecast has no day of the interval."""
        days = days_of(table)
        if days and not inside(days, read_days(self.days)):
            raise OutsideForecast(f"The forecast of {basin} is for {min(days)} to {max(days)}: ask for some of them.")

    def _answer(self, collection: Collection, tables: Sequence[Table]) -> Response:
        chosen, between = read_parameters(self.names, collection.columns), read_days(self.days)
        if len(tables) == 1:
            whole = tables[0]
        else:
            parts = [table.columns for table in tables] or [empty_columns(collection)]
            whole = stacked(collection.id, collection.title, parts)
        part = narrowed(whole, chosen, between)
        return self.answer.file(part.tag, lambda: part)

    def _forecasts(self, collection: Collection, basins: Sequence[str], field: str = "basin") -> list[Table]:
        session, at = self.subject.session, self.subject.at
        found = [
            result_of(session, collection.run, basin) if collection.run else lookup.latest(session, basin, at)
            for basin in basins
        ]
        days = sum(latest.run.horizon_days for latest in found)
        self.budget.spend(days * len(collection.columns), field, "ask for a part of the gauges.")
        return _forecasts(session, found, Representation("m3/s", members=False, at=None if collection.run else at))

    def _observation_requests(self, collection: Collection, basins: Sequence[str]) -> dict[str, SeriesRequest]:
        """Return what to read of each gauge, once the answer is known to be small enough."""
        records = series.extent(self.subject.session, basins, collection.product, [DISCHARGE])
        start, end = (None if bound is None else day(bound) for bound in read_days(self.days))
        requests, values = {}, 0
        for basin in basins:
            first, last = start, end
            if (record := records.get((basin, DISCHARGE))) is not None:
                last = record.last if end is None else end
                usual = record.last - np.timedelta64(USUAL_DAYS - 1, "D") if self.days is None else record.first
                first = max(usual, record.first) if start is None else start  # an open end is that of the record
                days = days_between(first, last) + 1
                if days > MAX_DAYS:
                    too_many = f"those are {counted(days, 'day')}, and one answer holds {MAX_DAYS}: ask for a part."
                    raise refused("datetime", too_many)
                values += max(0, days) * VALUES_A_DAY
                first, last = (first, last) if first <= last else (start, end)
            requests[basin] = SeriesRequest(product=collection.product, variable=DISCHARGE, start=first, end=last)
        self.budget.spend(values, "datetime", "ask for fewer days, or for a part of the gauges.")
        return requests

    def _observed(self, basin: str, request: SeriesRequest) -> Table:
        session = self.subject.session
        answer = observations_of(session, observation_query(session, basin, request))
        return table_of(answer, sites(session, [basin]))


def empty_columns(collection: Collection) -> list[Column]:
    """Return the columns of an answer without gauges."""
    return [*basin_columns("", NOWHERE, 0), *day_columns([], []), *collection.columns]


def _series(
    subject: AskedSubject,
    answer: CoverageAnswer,
    budget: RequestBudget,
    names: ParameterNames = None,
    days: Datetime = None,
) -> Series:
    return Series(subject, answer, names, days, budget)


AskedSeries = Annotated[Series, Depends(_series)]


def _forecasts(session: Session, found: Sequence[Latest], form: Representation) -> list[Table]:
    parts = stored_parts(session, found, members=False)
    forecasts = [basin_forecast(one, stored, form) for one, stored in zip(found, parts, strict=True)]
    places = sites(session, [forecast.basin for forecast in forecasts])
    return [forecast_table.of_one(forecast, places) for forecast in forecasts]
