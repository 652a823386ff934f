"""The series of a collection's gauges as one table, which `app.exports.coveragejson` writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Response
from sqlalchemy.orm import Session

from app.basins.observations import service as observations
from app.basins.observations import table as observation_table
from app.basins.observations.service import DISCHARGE
from app.basins.series_requests import SeriesRequest
from app.edr import selection
from app.edr.collections import FORECASTS, Collection
from app.edr.parameters import AskedSubject, Datetime, ParameterNames, Subject
from app.edr.selection import Days
from app.exports.answers import CoverageAnswer
from app.exports.basins import NOWHERE, basin_columns
from app.exports.table import Column, Table, stacked
from app.forecasts import lookup, service
from app.forecasts import table as forecast_table
from app.forecasts.batch import MAX_BASINS
from app.forecasts.discharge import Representation
from app.forecasts.table import day_columns
from app.http.problems import refused
from hydrology.base.calendar import day
from records.basins.basins import sites
from records.forecasts.latest import Latest

MAX_OBSERVED = 100
"""Gauges whose observed flow one answer holds."""


@dataclass(frozen=True, slots=True)
class Series:
    """Answers a request with the series of gauges, limited to its parameters and days."""

    subject: Subject
    answer: CoverageAnswer
    names: ParameterNames
    days: Datetime

    def of(self, collection: Collection, basins: Sequence[str], field: str = "coords") -> Response:
        """Answer with the series of some gauges of a collection; a collection without coverages for none.

        Args:
            field: the parameter that chose them.

        Raises:
            InvalidRequest: they are too many, or a parameter or day cannot be used.
        """
        limit = MAX_BASINS if collection.id == FORECASTS else MAX_OBSERVED
        if len(basins) > limit:
            raise refused(field, f"{len(basins)} gauges lie there, and one answer holds {limit}: ask for a part.")
        chosen, between = selection.parameters(self.names, collection.columns), selection.days(self.days)
        session, at = self.subject.session, self.subject.at
        if collection.id == FORECASTS:
            found = [
                lookup.of_run(session, collection.run, basin) if collection.run else lookup.latest(session, basin, at)
                for basin in basins
            ]
            form = Representation("m3/s", members=False, at=None if collection.run else at)
            tables = _forecasts(session, found, form)
        else:
            tables = [_observed(session, collection, basin, between) for basin in basins]
        if len(tables) == 1:
            whole = tables[0]
        else:
            parts = [table.columns for table in tables] or [empty_columns(collection)]
            whole = stacked(collection.id, collection.title, parts)
        part = selection.narrowed(whole, chosen, between)
        return self.answer.file(part.tag, lambda: part)


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


def _observed(session: Session, collection: Collection, basin: str, between: Days) -> Table:
    start, end = (None if bound is None else day(bound) for bound in between)
    request = SeriesRequest(product=collection.product, variable=DISCHARGE, start=start, end=end)
    answer = observations.answer(session, observations.part(session, basin, request))
    return observation_table.of_observations(answer, sites(session, [basin]))
