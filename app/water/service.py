"""Storage and water balance from the records to their answers."""

from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.columns import column
from app.forecasts import service as forecasts
from app.forecasts.balance import water_balance
from app.skill.service import snow_skill
from app.water.schemas import BalanceOfRun, StorageOfRun
from records import runs, skill, versions
from records.latest import Latest

NO_SNOW_SKILL = "The snow of this model version was not judged in this basin."


def storage(session: Session, found: Latest, at: datetime | None) -> StorageOfRun:
    """Return the water in the basin; `at` is the clock's time for a latest answer."""
    run, basin = found.run, found.basin
    kept = runs.series_of(session, run.id, basin.basin_id, ("storage", "snow")) if basin.status == "issued" else {}
    judged = [snow_skill(one) for one in skill.snow_cells(session, run.version_id, basin.basin_id)]
    told = forecasts.storage_of(kept)
    missing = forecasts.missing_in_header(basin) | ({} if judged else {"snow_skill": NO_SNOW_SKILL})
    total = snow = other = None
    if told is None:
        why = forecasts.why_no_account(basin, _conserving(session, found))
        missing |= dict.fromkeys(("total", "snow", "other"), why)
    else:
        total, snow = told.total, told.snow
        if snow is None:
            missing |= dict.fromkeys(("snow", "other"), forecasts.why_no_snow(basin))
        else:
            rest = kept["storage"].values.astype(np.float64) - kept["snow"].values
            other = column(rest.mean(axis=0))
    return StorageOfRun(
        **forecasts.header(found, at),
        **forecasts.days_ahead(run),
        units={"total": "mm", "snow": "mm", "other": "mm"},
        total=total,
        snow=snow,
        other=other,
        snow_skill=judged,
        missing=missing,
    )


def balance(session: Session, found: Latest, at: datetime | None) -> BalanceOfRun:
    """Return the water balance of every member; `at` is the clock's time for a latest answer."""
    days = forecasts.days_ahead(found.run)["time"]
    told = water_balance(runs.ledger_of(session, found.run.id, found.basin.basin_id))
    missing = forecasts.missing_in_header(found.basin)
    if told is None:
        missing["water_balance"] = forecasts.why_no_account(found.basin, _conserving(session, found))
    return BalanceOfRun(
        **forecasts.header(found, at),
        units={"water_balance": "mm"},
        first_day=days[0],
        last_day=days[-1],
        water_balance=told,
        missing=missing,
    )


def _conserving(session: Session, found: Latest) -> bool:
    return versions.conserving(session, [found.run.version_id])[found.run.version_id]
