"""Simulated and observed flow of evaluations: the days from which a version's scores were computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.errors import NotFound
from records.database.checksums import is_whole, with_checksum
from records.database.ids import Corrupt
from records.database.statements import insert_into
from records.series.year_rows import VALUE
from records.simulations.tables import SimulatedFlowRow


class NotSimulated(NotFound):
    """No simulation of that version and basin is stored."""

    kind = "not-simulated"
    remedy = "Evaluate the version here: `freshet evaluate`, or post a job of the kind `evaluation`."


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedFlow:
    """Flow of a basin on the days of an evaluation, mm/day.

    Attributes:
        version_id: the version that was scored.
        simulated: (days,), the mean of the members.
        observed: (days,), NaN where missing.
        evaluated_at: when it was computed.
    """

    version_id: str
    basin_id: str
    period: Period
    simulated: npt.NDArray[np.float32]
    observed: npt.NDArray[np.float32]
    evaluated_at: datetime


def replace(session: Session, flows: Sequence[SimulatedFlow]) -> None:
    """Store flows, each in place of that of the same version, basin and period. Equal ones are not written."""
    if not flows:
        return
    insert = insert_into(session, SimulatedFlowRow)
    new = {name: insert.excluded[name] for name in ("content", "checksum", "evaluated_at")}
    key = [column.name for column in insert.table.primary_key]
    session.execute(
        insert.on_conflict_do_update(
            index_elements=key, set_=new, where=insert.table.c.checksum != insert.excluded.checksum
        ),
        [with_checksum(SimulatedFlowRow, _values(flow)) for flow in flows],
    )


def newest(session: Session, versions: Sequence[str], basin: str) -> SimulatedFlow:
    """Return the newest flow of a basin that one of some versions has.

    Args:
        versions: in the order in which they are looked up.

    Raises:
        NotSimulated: none is stored.
        Corrupt: it is damaged.
    """
    row = SimulatedFlowRow
    for version in versions:
        query = select(row).filter_by(version_id=version, basin_id=basin).order_by(row.evaluated_at, row.last_day)
        if stored := session.scalars(query).all():
            return _flow(stored[-1])
    raise NotSimulated(
        f"No simulation of version {versions[0]} in {basin} is stored: evaluate it (freshet evaluate --version "
        f"{versions[0]})."
    )


def _values(flow: SimulatedFlow) -> dict[str, object]:
    content = np.concatenate([flow.simulated, flow.observed]).astype(VALUE).tobytes()
    return {
        "version_id": flow.version_id,
        "basin_id": flow.basin_id,
        "first_day": flow.period.first,
        "last_day": flow.period.last,
        "content": content,
        "evaluated_at": flow.evaluated_at,
    }


def _flow(row: SimulatedFlowRow) -> SimulatedFlow:
    if not is_whole(SimulatedFlowRow, row):
        raise Corrupt(f"The stored simulation of {row.basin_id} is damaged: evaluate version {row.version_id} again.")
    simulated, observed = np.frombuffer(row.content, VALUE).reshape(2, -1)
    return SimulatedFlow(
        version_id=row.version_id,
        basin_id=row.basin_id,
        period=Period(row.first_day, row.last_day),
        simulated=simulated,
        observed=observed,
        evaluated_at=row.evaluated_at,
    )
