"""Records the newest run of each basin on storing it, so that no archive is searched for it."""

from collections.abc import Sequence

from sqlalchemy import tuple_
from sqlalchemy.orm import Session

from hydrology.water.spin_up import SPIN_UP_DAYS
from records.database.statements import insert_into
from records.runs.run_types import NewRun, RunBasin
from records.runs.tables import NewestRunRow

TRIED, LATEST = "tried", "latest"
ORDER = ("t0", "issued_at", "run_id")
"""The newest T0, then the newest issue."""


def can_be_latest(basin: RunBasin) -> bool:
    """Return whether a basin's forecast may be its latest: issued, and not spinning up."""
    return basin.status == "issued" and (basin.spin_up_days is None or basin.spin_up_days > SPIN_UP_DAYS)


def note(session: Session, run: NewRun, basins: Sequence[RunBasin]) -> None:
    """Record a stored run as the newest of its basins, where it is."""
    if run.purpose != "operational":
        return
    owned = {
        "version_id": run.version_id,
        "run_id": run.id,
        "t0": run.t0,
        "issued_at": run.issued_at,
        "available_at": run.available_at,
    }
    rows = [
        owned | {"basin_id": basin.basin_id, "which": which}
        for basin in sorted(basins, key=lambda basin: basin.basin_id)  # in one order, so that two runs cannot deadlock
        for which in ((TRIED, LATEST) if can_be_latest(basin) else (TRIED,))
    ]
    if not rows:
        return
    insert = insert_into(session, NewestRunRow)
    newer = tuple_(*(insert.excluded[name] for name in ORDER)) > tuple_(*(getattr(NewestRunRow, n) for n in ORDER))
    changed = {name: insert.excluded[name] for name in (*ORDER, "available_at")}
    key = ["version_id", "basin_id", "which"]
    session.execute(insert.on_conflict_do_update(index_elements=key, set_=changed, where=newer), rows)
