"""Rivals: flows of other models or services, stored to be judged beside the own forecasts and never mixed into them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary, Row, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput, NotFound, counted
from records.database.checksums import Corrupt, Summed, is_whole
from records.database.stored import as_values, find, find_or_raise, read, stored, table_of, upsert
from records.series.year_rows import VALUE

RivalKind = Literal["forecasts", "simulation"]
Flow = npt.NDArray[np.float32]


class UnknownRival(NotFound):
    """No rival has that name."""

    remedy = "List the rivals: `/v1/rivals`."


@stored("rivals")
class Rival:
    """Another model or service.

    Attributes:
        values_per_day: how many it gives: one flow, or quantiles at `error_model.LEVELS`.
        source: whom its flows come from and on which terms, as whoever added it wrote.
    """

    id: str
    kind: RivalKind
    values_per_day: int
    source: str
    added_at: datetime


@stored(
    "rival_flows",
    CheckConstraint("days >= 1", name="days"),
    key=("rival_id", "basin_id", "issued"),
    summed=Summed(("rival_id", "basin_id", "issued", "days"), ("content",)),
)
class _Flows:
    """Flow of the day of the issue and those after it, m3/s, (values, days).

    A simulation has one row, issued on its first day.
    """

    rival_id: Annotated[str, ForeignKey("rivals.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    issued: Day
    days: int
    content: Annotated[bytes, LargeBinary()]


RIVALS, RIVAL_FLOWS = table_of(Rival), table_of(_Flows)


def store(session: Session, rival: Rival, flows: Mapping[tuple[str, Day], Flow]) -> None:
    """Store a rival with flows (values, days) by basin and day of issue, each in place of an earlier one.

    Raises:
        InvalidInput: the stored rival of that name is of another kind, or gives another number of values.
    """
    known = find(session, Rival, id=rival.id)
    if known is not None and (known.kind, known.values_per_day) != (rival.kind, rival.values_per_day):
        raise InvalidInput(
            f"Rival {rival.id} has {known.kind} of {counted(known.values_per_day, 'value')} a day, and these are "
            f"{rival.kind} of {rival.values_per_day}: give them another name, or remove it first."
        )
    upsert(session, Rival, [as_values(rival)])
    rows = (
        {
            "rival_id": rival.id,
            "basin_id": basin,
            "issued": day,
            "days": flow.shape[1],
            "content": flow.astype(VALUE).tobytes(),
        }
        for (basin, day), flow in flows.items()
    )
    upsert(session, _Flows, rows, compared=("days", "content"))


def remove(session: Session, rival: str) -> None:
    """Remove a rival and its flows; scores that were stored of it stay."""
    known = get(session, rival).id
    session.execute(RIVAL_FLOWS.delete().filter_by(rival_id=known))
    session.execute(RIVALS.delete().filter_by(id=known))


def get(session: Session, rival: str) -> Rival:
    problem = UnknownRival(f"There is no rival {rival}.")
    return find_or_raise(session, Rival, problem, id=rival)


def list_rivals(session: Session, kind: RivalKind | None = None) -> list[Rival]:
    query = select(RIVALS).order_by(RIVALS.c.id)
    return read(session, Rival, query if kind is None else query.filter_by(kind=kind))


def newest_issue(session: Session, rival: str, basin: str) -> Day | None:
    found: Day | None = session.scalar(select(func.max(RIVAL_FLOWS.c.issued)).filter_by(rival_id=rival, basin_id=basin))
    return found


def flows_of(session: Session, rival: str, basin: str, issued: Sequence[Day]) -> dict[Day, Flow]:
    """Return flows (values, days) of a rival in a basin, m3/s, by day of issue, of some days, at least one."""
    query = select(RIVAL_FLOWS).filter_by(rival_id=rival, basin_id=basin).order_by(RIVAL_FLOWS.c.issued)
    found = session.execute(query.where(RIVAL_FLOWS.c.issued.between(min(issued), max(issued))))
    wanted = {*issued}
    return {day: flow for day, flow in _flows(found) if day in wanted}


def _flows(rows: Iterable[Row[Any]]) -> Iterator[tuple[Day, Flow]]:
    for row in rows:
        if not is_whole(RIVAL_FLOWS, row):
            raise Corrupt(f"The stored flows of rival {row.rival_id} in {row.basin_id} are damaged: add them again.")
        yield row.issued, np.frombuffer(row.content, VALUE).reshape(-1, row.days)
