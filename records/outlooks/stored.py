"""Reads and writes the stored outlooks of runs."""

from collections.abc import Collection, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.database.statements import insert_into, table_of, where_keys
from records.outlooks.run_outlook import RunOutlook, SeasonVolume
from records.outlooks.tables import OutlookRow
from records.runs.run_types import RunBasinKey


def read(session: Session, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, RunOutlook]:
    """Return the stored outlooks of runs' basins; those without one are left out."""
    table = table_of(OutlookRow).c
    query = where_keys(select(table.run_id, table.basin_id, table.outlook), (table.run_id, table.basin_id), keys)
    return {(run, basin): outlook for run, basin, outlook in session.execute(query)}


def write(session: Session, run: str, outlooks: Mapping[str, RunOutlook]) -> None:
    """Store the outlooks of a run by basin, in the place of earlier ones."""
    if not outlooks:
        return
    insert = insert_into(session, OutlookRow)
    columns = ("has_season", "outlook")
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["run_id", "basin_id"], set_={name: insert.excluded[name] for name in columns}
        ),
        [
            {
                "run_id": run,
                "basin_id": basin,
                "has_season": isinstance(outlook.season, SeasonVolume),
                "outlook": outlook,
            }
            for basin, outlook in sorted(outlooks.items())
        ],
    )
