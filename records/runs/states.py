"""Model states: per version, basin and day, the arrays of all members, hashed and linked to their parent."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from sqlalchemy import ColumnElement, Row, and_, func, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, day
from hydrology.base.digests import fingerprint
from hydrology.base.errors import DataProblem, NotFound
from records.basins import basins
from records.database import checksums
from records.database.checksums import Corrupt, member_hashes, pack_arrays, unpack_arrays, whole_arrays
from records.database.stored import add_all, as_record, as_values, find_row, grouped, narrowed, where_keys
from records.runs.shared_cells import hand_over
from records.runs.tables import STATES, NewState, State

_FLOW = "discharge"
Key = tuple[str, str, Day]
"""Key of a state: its version, basin and day."""


class UnknownState(NotFound):
    """No state of that version, basin and day is stored."""

    remedy = "List the stored ones: `/v1/basins/{basin}/states`. Of old days the last of each month is stored."


class StateConflict(DataProblem):
    """A different valid state of that day is already stored."""


def hashed(new: NewState, at: datetime) -> State:
    hashes = member_hashes(new.arrays)
    return State(
        **as_values(new),
        member_hashes=tuple(hashes),
        sha256=fingerprint(hashes),
        created_at=at,
        invalid_at=None,
        invalid_reason=None,
    )


def put(session: Session, new: Sequence[NewState], at: datetime) -> list[State]:
    """Store states. An equal one is not written again; an invalid or damaged one of its day is replaced."""
    basins.lock(session, *(one.basin_id for one in new))
    of_states = STATES.c.basin_id.in_({one.basin_id for one in new}), STATES.c.day.in_({one.day for one in new})
    query = select(STATES).where(STATES.c.version_id.in_({one.version_id for one in new}), *of_states)
    rows = {(row.version_id, row.basin_id, row.day): row for row in session.execute(query)}
    result, added = list[State](), list[State]()
    for state in (hashed(one, at) for one in new):
        version, basin, of_day = key = state.version_id, state.basin_id, state.day
        row = rows.get(key)
        if row is not None and row.invalid_at is None and is_whole(row):
            if row.sha256 != state.sha256:
                raise StateConflict(
                    f"Meanwhile another state of version {version} was stored for {basin} at {of_day}: "
                    "repeat the command, and it continues from that state."
                )
            result.append(_state(row))
            continue
        if row is not None:
            if row.sha256 != state.sha256:
                hand_over(session, version, {(basin, of_day)})
            session.execute(STATES.delete().filter_by(version_id=version, basin_id=basin, day=of_day))
        result.append(state)
        added.append(state)
    add_all(session, State, [_row(one) for one in added])
    return result


def _row(state: State) -> dict[str, Any]:
    return as_values(state, "arrays", "sums", "recent_flow", "invalid_at", "invalid_reason") | {
        "variant": {name: {"shape": list(of.shape), "dtype": of.dtype.name} for name, of in state.arrays.items()},
        "content": pack_arrays(state.arrays),
        "sums": None if state.sums is None else pack_arrays(state.sums),
        "sums_hash": None if state.sums is None else fingerprint(member_hashes(state.sums)),
        "recent_flow": None if state.recent_flow is None else pack_arrays({_FLOW: state.recent_flow}),
    }


def get(session: Session, version: str, basin: str, day: Day) -> State | None:
    row = find_row(session, STATES, version_id=version, basin_id=basin, day=day)
    return None if row is None else _state(row)


def of_day(session: Session, version: str, basins: Sequence[str], day: Day) -> dict[str, State]:
    """Return the states of basins at the end of a day, invalid too."""
    query = select(STATES).filter_by(version_id=version, day=day).where(STATES.c.basin_id.in_(basins))
    return {row.basin_id: _state(row) for row in session.execute(query)}


def require(session: Session, version: str, basin: str, day: Day) -> State:
    state = get(session, version, basin, day)
    if state is None:
        raise UnknownState(f"No state of version {version} in {basin} at {day} is stored: choose a stored day.")
    return state


def page(session: Session, version: str, basin: str, *, before: Day | None, limit: int) -> list[State]:
    """Return a basin's undamaged states before a day, newest first, invalid too."""
    query = select(STATES.c.day).filter_by(version_id=version, basin_id=basin).order_by(STATES.c.day.desc())
    days = session.scalars(narrowed(query, (STATES.c.day.__lt__, before))).all()
    return [*islice(_undamaged(session, version, basin, days), limit)]


def newest_valid(session: Session, version: str, basin: str, on_or_before: Day) -> State | None:
    """Return the newest valid state up to a day, or None.

    Damaged states are skipped: a forecast recomputes them from an earlier one and replaces them.
    """
    days = session.scalars(
        select(STATES.c.day)
        .filter_by(version_id=version, basin_id=basin, invalid_at=None)
        .where(STATES.c.day <= on_or_before)
        .order_by(STATES.c.day.desc())
    ).all()
    return next(_undamaged(session, version, basin, days), None)


def _undamaged(session: Session, version: str, basin: str, days: Sequence[Day]) -> Iterator[State]:
    for at in days:
        with suppress(Corrupt):
            if (state := get(session, version, basin, at)) is not None:
                yield state


def newest_valid_many(
    session: Session, version: str, basins: Sequence[str], on_or_before: Day
) -> dict[str, State | None]:
    """Return the `newest_valid` state of many basins."""
    newest = (
        select(STATES.c.basin_id, func.max(STATES.c.day).label("day"))
        .where(STATES.c.version_id == version, STATES.c.basin_id.in_(basins))
        .where(STATES.c.invalid_at.is_(None), STATES.c.day <= on_or_before)
        .group_by(STATES.c.basin_id)
        .subquery()
    )
    rows = session.execute(
        select(STATES)
        .join(newest, and_(STATES.c.basin_id == newest.c.basin_id, STATES.c.day == newest.c.day))
        .where(STATES.c.version_id == version)
    ).all()
    found: dict[str, State | None] = dict.fromkeys(basins)
    for row in rows:
        try:
            found[row.basin_id] = _state(row)
        except Corrupt:
            found[row.basin_id] = newest_valid(session, version, row.basin_id, on_or_before)
    return found


def valid_hashes(session: Session, version: str, day: Day, basins: Sequence[str]) -> dict[str, str]:
    """Return the fingerprint of each basin's valid state of a day. Basins without one are left out."""
    rows = session.execute(
        select(STATES.c.basin_id, STATES.c.sha256)
        .filter_by(version_id=version, day=day, invalid_at=None)
        .where(STATES.c.basin_id.in_(basins))
    )
    return dict(rows.all())


def invalidate(session: Session, basin: str, product: str, from_day: Day, reason: Absent, at: datetime) -> int:
    """Invalidate a basin's states that used a product from a day on. Return their number.

    The state of `from_day` is included, since that day entered it. States already invalid retain their reason.
    """
    return invalidate_all(session, basin, reason, at, STATES.c.product == product, STATES.c.day >= from_day)


def invalidate_all(session: Session, basin: str, reason: Absent, at: datetime, *which: ColumnElement[bool]) -> int:
    basins.lock(session, basin)
    valid = STATES.c.basin_id == basin, STATES.c.invalid_at.is_(None)
    marked = STATES.update().where(*valid, *which).values(invalid_at=at, invalid_reason=reason)
    return len(session.execute(marked.returning(STATES.c.day)).all())


def outdated(session: Session, before: datetime, states: Collection[Key] | None = None) -> dict[Key, int]:
    """Return the states created before an instant, of a day before it, each with a count of 1.

    Left out are the newest state and the last valid one of each month: forecasts, replays and what-if runs of old days
    start from those.
    """
    of_basin, later = (STATES.c.version_id, STATES.c.basin_id), STATES.alias()
    further = select(later.c.day).where(
        later.c.version_id == STATES.c.version_id, later.c.basin_id == STATES.c.basin_id, later.c.day > STATES.c.day
    )
    following = further.where(later.c.invalid_at.is_(None)).order_by(later.c.day).limit(1).scalar_subquery()
    query = select(*of_basin, STATES.c.day, STATES.c.invalid_at, following).where(STATES.c.created_at < before)
    query = query.where(STATES.c.day <= day(before.date()))  # created after it: the index alone finds the old ones
    query = query.where(STATES.c.invalid_at.is_(None) | further.exists())  # of a valid one `following` suffices
    if states is not None:
        query = where_keys(query, of_basin, {(version, basin) for version, basin, _ in states})
    found = [
        (version, basin, of_day)
        for version, basin, of_day, invalid_at, valid in session.execute(query.order_by(*of_basin, STATES.c.day))
        if invalid_at is not None or (valid is not None and valid.astype(_MONTH) == of_day.astype(_MONTH))
    ]
    return dict.fromkeys(found if states is None else {*states}.intersection(found), 1)


_MONTH = "datetime64[M]"


def remove(session: Session, states: Collection[Key]) -> list[str]:
    """Delete states. Return the ids of records with an address: none."""
    basins.lock(session, *{basin for _, basin, _ in states})
    for version, of_version in grouped((version, of) for version, *of in states).items():
        hand_over(session, version, {(basin, of_day) for basin, of_day in of_version})
        by_days = grouped((tuple(sorted(days)), basin) for basin, days in grouped(of_version).items())
        for days, names in by_days.items():  # pairs of basin and day are compared with each state of the basins
            own = STATES.delete().filter_by(version_id=version)
            session.execute(own.where(STATES.c.basin_id.in_(names), STATES.c.day.in_(days)))
    return []


def _state(row: Row[Any]) -> State:
    if not is_whole(row):
        raise Corrupt(
            f"The stored state of {row.basin_id} at {row.day} is damaged: forecast again, which recomputes it."
        )
    sums = None if row.sums is None else unpack_arrays(row.sums)
    return as_record(State, row, arrays=unpack_arrays(row.content), sums=sums, recent_flow=_recent_flow(row))


def _recent_flow(row: Any) -> npt.NDArray[np.float32] | None:
    return None if row.recent_flow is None else unpack_arrays(row.recent_flow)[_FLOW]


def is_whole(row: Any) -> bool:
    """Return whether a stored state, its columns as attributes, is as it was written."""
    if whole_arrays(row.content, row.member_hashes, row.sha256) is None:
        return False
    try:
        sums_hash = None if row.sums is None else fingerprint(member_hashes(unpack_arrays(row.sums)))
        _recent_flow(row)
    except (SafetensorError, KeyError, ValueError):
        return False
    return sums_hash == row.sums_hash and checksums.is_whole(STATES, row)


CELLS = "c"
"""The array of a state with the water in its cells."""


def cells_between(session: Session, version: str, basin: str, period: Period) -> dict[Day, npt.NDArray[Any]]:
    """Return undamaged valid states' water, (members, cells) in mm, by day.

    The version must conserve mass: the cells of other networks hold no water.
    """
    rows = session.execute(
        select(STATES)
        .filter_by(version_id=version, basin_id=basin, invalid_at=None)
        .where(STATES.c.day >= period.first, STATES.c.day <= period.last)
        .order_by(STATES.c.day)
    )
    return {row.day: unpack_arrays(row.content)[CELLS] for row in rows if is_whole(row)}
