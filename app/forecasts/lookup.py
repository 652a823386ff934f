"""Finds the run behind an answer about a basin."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends
from sqlalchemy.orm import Session

from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from hydrology.base.errors import NotFound
from records.basins.basins import UnknownBasin
from records.forecasts import latest as records
from records.forecasts.latest import Latest, NoForecast, NoModel
from records.runs.run_types import UnknownRun

RunAndTime = tuple[Latest, datetime | None]
"""A run's result for a basin, and the clock's time if the answer is the latest."""


def latest(session: Session, basin: str, at: datetime) -> Latest:
    """Return the latest forecast of a basin.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
        NoForecast: there is none; the message states how to run one.
    """
    try:
        return records.latest(session, basin, at)
    except NoForecast as error:
        raise _with_remedy(error, basin) from None


def latest_many(session: Session, basins: list[str], at: datetime) -> dict[str, Latest | NotFound]:
    """Return the latest forecast of each basin, or what `latest` would raise, in the order given."""
    found = records.latest_many(session, basins, at)
    return {basin: _with_remedy(one, basin) if isinstance(one, NoForecast) else one for basin, one in found.items()}


def of_run(session: Session, run: str, basin: str) -> Latest:
    """Return the result of a given run for a basin.

    Raises:
        UnknownRun: there is no such run, or it does not include that basin.
    """
    return records.result_of(session, run, basin)


def chosen(session: Session, run: str | None, basin: str, at: datetime) -> RunAndTime:
    """Return a given run's result, or the latest with the clock's time.

    Raises:
        UnknownRun: there is no such run, or it does not include that basin.
        UnknownBasin, NoModel, NoForecast: no run is given, and there is no latest.
    """
    return (latest(session, basin, at), at) if run is None else (of_run(session, run, basin), None)


def _asked(session: Reading, clock: ServiceClock, basin: BasinId, run: ChosenRun = None) -> RunAndTime:
    return chosen(session, run, basin, clock.now())


# The run that an answer about a basin is for: the one named, or the latest.
AskedRun = Annotated[RunAndTime, Depends(_asked)]
PROBLEMS = (UnknownBasin, NoModel, NoForecast, UnknownRun)
"""What finding it raises."""


def _with_remedy(error: NoForecast, basin: str) -> NoForecast:
    return NoForecast(f"{error} To make one: freshet forecast --basin {basin}.")
