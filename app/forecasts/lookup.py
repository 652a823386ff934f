"""Finds the basins and the runs that an answer is about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.basins.queries import InPlace, Place
from app.http.dependencies import AsKnown, BasinId, ChosenRun, OptionalInstant, Reading, ServiceClock
from app.http.problems import refused
from hydrology.base.errors import NotFound
from jobspec.fields import BASIN, full_id
from records.basins import basins as stored_basins
from records.forecasts import latest as records
from records.forecasts.latest import Latest, NoForecast, NoModel
from records.runs import runs
from records.runs.run_types import Run, UnknownRun

MAX_BASINS = 500
MAX_RUNS = 200
"""Of the runs of a basin, the newest that are looked through for those beside one."""


RunAndTime = tuple[Latest, datetime | None]
"""A run's result for a basin, and the clock's time if the answer is the latest."""


def latest(session: Session, basin: str, at: datetime) -> Latest:
    try:
        return records.latest(session, basin, at)
    except NoForecast as error:
        raise _with_remedy(error, basin) from None


def latest_many(session: Session, basins: list[str], at: datetime) -> dict[str, Latest | NotFound]:
    """Return the latest forecast of each basin, or what `latest` would raise, in the order given."""
    found = records.latest_many(session, basins, at)
    return {basin: _with_remedy(one, basin) if isinstance(one, NoForecast) else one for basin, one in found.items()}


def chosen(session: Session, run: str | None, basin: str, at: datetime) -> RunAndTime:
    """Return a given run's result, or the latest with the clock's time."""
    return (latest(session, basin, at), at) if run is None else (records.result_of(session, run, basin), None)


def alike(session: Session, shown: Latest, at: datetime) -> list[Run]:
    """Return the runs of the same version, purpose and horizon as a run, by T0 and issue."""
    filters = {"basin": shown.basin.basin_id, "version": shown.run.version_id, "purpose": shown.run.purpose}
    listed = runs.list_runs(session, **filters, available_by=at, limit=MAX_RUNS)  # type: ignore[arg-type]
    return sorted((run for run in listed if run.days_to_come == shown.run.days_to_come), key=lambda run: run.order)


def _asked(session: Reading, clock: ServiceClock, basin: BasinId, run: ChosenRun = None) -> RunAndTime:
    return chosen(session, run, basin, clock.now())


# The run that an answer about a basin is for: the one named, or the latest.
AskedRun = Annotated[RunAndTime, Depends(_asked)]
PROBLEMS = (stored_basins.UnknownBasin, NoModel, NoForecast, UnknownRun)
"""What finding it raises."""


def _with_remedy(error: NoForecast, basin: str) -> NoForecast:
    return NoForecast(f"{error} To make one: freshet forecast --basin {basin}.")


def _basins(text: str) -> str:
    basins = list(dict.fromkeys(full_id(part.strip()) for part in text.split(",")))
    if len(basins) > MAX_BASINS:
        detail = f"{len(basins)} basins, and one answer holds at most {MAX_BASINS}: ask for a part at a time"
        raise PydanticCustomError("basins", "{detail}", {"detail": detail})
    return ",".join(basins)


Basins = Annotated[
    str | None,
    AfterValidator(lambda text: None if text is None else _basins(text)),
    Query(
        description=f"The basins, at most {MAX_BASINS}, with commas between; by default all, or those selected by "
        "`huc`, `bbox` and `region`.",
        examples=["01013500,01022500"],
        max_length=10_000,
        json_schema_extra={"pattern": f"^{BASIN}( *, *{BASIN}){{0,{MAX_BASINS - 1}}}$"},
    ),
]
UpdatedSince = Annotated[
    OptionalInstant,
    Query(
        description="Only basins whose latest forecast became available after this instant (RFC 3339, with its "
        "offset), or comes from a model version that was promoted after it.",
        examples=["2008-04-21T06:00:00Z"],
    ),
]


def _selected(
    session: Reading,
    at: AsKnown,
    place: InPlace,
    basins: Basins = None,
    updated_since: UpdatedSince = None,
) -> Sequence[str]:
    if basins is not None:
        if place != Place():
            raise refused(
                "basins", "either name basins, or choose them by huc, bbox and region: leave one of the two out."
            )
        asked: Sequence[str] = basins.split(",")
    else:
        asked = _placed(session, place)
    return asked if updated_since is None else records.updated_since(session, asked, updated_since, at)


def _placed(session: Session, place: Place) -> Sequence[str]:
    chosen = stored_basins.chosen(session, **place.filters)
    if len(chosen) > MAX_BASINS:
        detail = f"these are {len(chosen)} basins, and one answer holds at most {MAX_BASINS}"
        raise refused("basins", f"{detail}: choose a part of them by huc, bbox or region, or name them.")
    return chosen


SelectedBasins = Annotated[Sequence[str], Depends(_selected)]
