"""The latest forecast of a basin, as the clock sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from hydrology.errors import NotFound
from records import basins as basin_records
from records import promotions
from records.runs import Run, RunBasin
from records.statements import as_record
from records.tables.runs import RunBasinRow, RunRow


class NoModel(NotFound):
    """No version is current for the basin."""

    kind = "no-model"


class NoForecast(NotFound):
    """The current version has not issued a forecast of the basin yet."""

    kind = "no-forecast"


@dataclass(frozen=True, slots=True)
class Superseded:
    """A newer run that was not issued for the basin, and why."""

    run_id: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest issued run of a basin, what it says of it, and the newer run that could not replace it."""

    run: Run
    basin: RunBasin
    superseded_by: Superseded | None


def latest(session: Session, basin: str, at: datetime) -> Latest:
    """Return the latest forecast of a basin that is available at an instant.

    Of the operational runs of the version that is current for the basin: the newest T0, then the newest issue.

    Raises:
        UnknownBasin: there is no such basin.
        NoModel: no version is current for it.
        NoForecast: the current version has issued none; the sentence says what its newest run came to.
    """
    basin_records.require(session, basin)
    issued, tried = _newest(session, [basin], at)
    if basin in issued:
        return _latest(issued[basin], tried[basin])
    version = promotions.current(session, [basin]).get(basin)
    if version is None:
        raise NoModel(f"No model version is current for {basin}: promote one.")
    if basin in tried:
        run, row = tried[basin]
        raise NoForecast(f"No forecast of {basin} is issued yet: run {run.id} was {row.status} ({row.reason}).")
    raise NoForecast(f"Version {version} has made no forecast of {basin} that is available yet: run one.")


def latest_many(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Latest]:
    """Return the latest forecast of each of many basins; a basin without one is not there."""
    issued, tried = _newest(session, basins, at)
    return {basin: _latest(found, tried[basin]) for basin, found in issued.items()}


Found = tuple[RunRow, RunBasinRow]


def _newest(session: Session, basins: Sequence[str], at: datetime) -> tuple[dict[str, Found], dict[str, Found]]:
    """Return each basin's newest issued run, and its newest run whatever came of it."""
    current = promotions.current_versions()
    order = (RunRow.t0.desc(), RunRow.issued_at.desc(), RunRow.id.desc())
    of_basin = func.row_number().over(partition_by=RunBasinRow.basin_id, order_by=order)
    of_status = func.row_number().over(
        partition_by=(RunBasinRow.basin_id, RunBasinRow.status == "issued"), order_by=order
    )
    ranked = (
        select(RunBasinRow.run_id, RunBasinRow.basin_id, of_basin.label("of_basin"), of_status.label("of_status"))
        .join(RunRow, RunRow.id == RunBasinRow.run_id)
        .join(current, (current.c.basin_id == RunBasinRow.basin_id) & (current.c.version_id == RunRow.version_id))
        .where(RunBasinRow.basin_id.in_(basins), RunRow.purpose == "operational", RunRow.available_at <= at)
        .subquery()
    )
    rows = session.execute(
        select(RunRow, RunBasinRow, ranked.c.of_basin)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .join(ranked, (ranked.c.run_id == RunRow.id) & (ranked.c.basin_id == RunBasinRow.basin_id))
        .where(or_(ranked.c.of_basin == 1, ranked.c.of_status == 1))
    )
    issued: dict[str, Found] = {}
    tried: dict[str, Found] = {}
    for run, basin, rank in rows:
        if rank == 1:
            tried[basin.basin_id] = (run, basin)
        if basin.status == "issued":
            issued[basin.basin_id] = (run, basin)
    return issued, tried


def _latest(issued: Found, tried: Found) -> Latest:
    run, basin = issued
    newer, newer_basin = tried
    superseded = None
    if newer_basin.reason is not None:
        superseded = Superseded(newer.id, newer_basin.status, newer_basin.reason)
    return Latest(as_record(Run, run), as_record(RunBasin, basin), superseded)
