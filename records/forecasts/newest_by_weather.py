"""The newest runs of a basin with the weather of other years, or without rain: a recession."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput
from hydrology.weather.forcing_kinds import ForcingKind
from records.basins import basins as basin_records
from records.database.retention import PrunedRow
from records.forecasts.latest import (
    CAN_BE_LATEST,
    NEWEST_FIRST,
    Latest,
    NoForecast,
    NoModel,
    awaited_version,
    result_of,
)
from records.runs import run_types
from records.runs.tables import RunBasinRow, RunRow
from records.versions import promotions


class NotDry(InvalidInput):
    """The run is not a recession run."""

    kind = "not-dry"


def newest_result(session: Session, run: str, basin: str) -> Latest:
    result = result_of(session, run, basin)
    return replace(
        result, awaited=awaited_version(result.run.version_id, promotions.current(session, [basin]).get(basin))
    )


def newest_on(session: Session, basin: str, weather: ForcingKind, at: datetime) -> Iterator[tuple[str, Day, Day]]:
    """Yield id, T0 and last day of the service's dry or climatology runs of a basin, newest T0 first.

    Those of the current version come first. Left out are runs of operators' keys, with changes, or with pruned members.
    """
    basin_records.require(session, basin)
    if basin not in promotions.current(session, [basin]):
        raise NoModel(f"No model version is current for {basin}: promote one.")
    promoted = promotions.last_promotions()
    rows = session.execute(
        select(RunRow.id, RunRow.t0, RunRow.horizon_days)
        .join(RunBasinRow, RunBasinRow.run_id == RunRow.id)
        .join(promoted, (promoted.c.basin_id == RunBasinRow.basin_id) & (promoted.c.version_id == RunRow.version_id))
        .where(
            RunRow.forcing_kind == weather,
            RunRow.owner.is_(None),
            RunRow.what_if.is_(None),
            RunRow.available_at <= at,
        )
        .where(
            RunRow.id.not_in(select(PrunedRow.id).where(PrunedRow.rule == "members")),
            RunBasinRow.basin_id == basin,
            CAN_BE_LATEST,
        )
        .order_by(promoted.c.number.desc(), *NEWEST_FIRST)
    )
    for row in rows:
        yield row.id, row.t0, row.t0 + np.timedelta64(row.horizon_days, "D")


def newest_recession(session: Session, basin: str, at: datetime, t0: Day | None = None) -> Latest:
    """Return the newest recession run: of the current version, otherwise of the one before."""
    for run, of, _ in newest_on(session, basin, "dry", at):
        if t0 in (None, of):
            return newest_result(session, run, basin)
    of_t0, option = ("", "") if t0 is None else (f" from T0 {t0}", f" --t0 {t0}")
    raise NoForecast(
        f"There is no run of {basin}{of_t0} without rain after T0. Start one: freshet forecast --basin {basin}{option} "
        "--weather dry --horizon 180."
    )


def require_dry(run: run_types.Run) -> None:
    if run.forcing_kind != "dry":
        raise NotDry(f"Run {run.id} has {run.forcing_kind} weather: name a run with `dry` weather, or leave `run` out.")
