"""States: what the cells of a version hold in a basin at the end of a day.

A basin's first state begins at an empty store on the first day of its record. From then on a state is only ever
advanced from a kept one, day by day, so that the state of a day is the same whichever day it was asked for. A
state is kept at the end of every water year on the way, and at the day asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from hydrology.calendar import Day, Period, month
from hydrology.ledger import close, negative_water
from models.arrays import Forcing
from models.inference import GROUP, ArrayMap
from operations.dataset import BasinForcing, content_hash, stacked
from operations.loading import LoadedVersion
from records import basins, series, states
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()

ONE_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True)
class Parent:
    """The kept state that a run begins from."""

    day: Day
    sha256: str


@dataclass(frozen=True, slots=True)
class Advanced:
    """A basin at the end of T0.

    Attributes:
        state: the kept state of T0; its arrays have the member first.
        parent: the newest state that was kept before; None where the run began at an empty store.
        problem: why the basin cannot be forecast from here, if its ledger did not close on the way.
    """

    state: states.State | None
    parent: Parent | None
    problem: str | None = None


def advance(
    database: Database,
    clock: Clock,
    loaded: LoadedVersion,
    forcings: Mapping[str, BasinForcing],
    t0: Day,
    on_days: Callable[[int, int], None] = lambda _done, _total: None,
) -> dict[str, Advanced]:
    """Bring the states of some basins to the end of T0, and keep them.

    Args:
        forcings: whose records reach T0.
        on_days: gets how many basin-days are done, of how many.
    """
    with database.reading() as session:
        kept = {basin: states.newest_valid(session, loaded.version.id, basin, t0) for basin in forcings}
    starts = {basin: state.day + ONE_DAY if state else forcings[basin].period.first for basin, state in kept.items()}
    total = sum(int((t0 - start).astype(int)) + 1 for start in starts.values())
    done = 0
    result: dict[str, Advanced] = {}
    for names in _groups(starts, kept):
        chunk = {basin: kept[basin] for basin in names}
        parents = {basin: Parent(state.day, state.sha256) if state else None for basin, state in chunk.items()}
        problems: dict[str, str] = {}
        for days in _segments(starts[names[0]], t0):
            _advance_segment(database, clock, loaded, forcings, chunk, days, problems)
            done += len(days) * len(names)
            on_days(done, total)
        for basin in names:
            result[basin] = Advanced(chunk[basin], parents[basin], problems.get(basin))
    return result


def _groups(starts: Mapping[str, Day], kept: Mapping[str, states.State | None]) -> Iterator[list[str]]:
    """Yield basins that start on the same day, all from a state or all from an empty store, a group at a time."""
    beginnings = {basin: (start, kept[basin] is None) for basin, start in starts.items()}
    for beginning in sorted(set(beginnings.values())):
        names = [basin for basin, its in beginnings.items() if its == beginning]
        for first in range(0, len(names), GROUP):
            yield names[first : first + GROUP]


def _segments(first: Day, last: Day) -> Iterator[Period]:
    """Yield the days from first to last, cut at the ends of the water years."""
    if last < first:
        return
    days = Period(first, last).days
    ends = [int(i) for i in np.flatnonzero((month(days) == 9) & (month(days + ONE_DAY) == 10))]
    begin = 0
    for end in dict.fromkeys([*ends, len(days) - 1]):
        yield Period(days[begin], days[end])
        begin = end + 1


def _advance_segment(
    database: Database,
    clock: Clock,
    loaded: LoadedVersion,
    forcings: Mapping[str, BasinForcing],
    chunk: dict[str, states.State | None],
    days: Period,
    problems: dict[str, str],
) -> None:
    """Run some basins over some days from their states in `chunk`, and put the new ones there."""
    going = [basin for basin in chunk if basin not in problems]
    if not going:
        return
    forcing = stacked([forcings[basin].forcing.over(days) for basin in going])
    start = member_states([chunk[basin] for basin in going], len(loaded.labels))
    outputs, last = loaded.ensemble.simulate(forcing, start, ("discharge", "loss") if _conserves(loaded) else ())
    new = {}
    for at, basin in enumerate(going):
        if _conserves(loaded) and (problem := _open_ledger(forcing, outputs, start, last, at)):
            problems[basin] = f"{basin}: between {days.first} and {days.last} {problem}"
            continue
        before = chunk[basin]
        new[basin] = states.NewState(
            version_id=loaded.version.id,
            basin_id=basin,
            day=days.last,
            product=loaded.version.product,
            arrays={name: np.stack([member[name][at] for member in last]) for name in last[0]},
            parent_day=before.day if before else None,
            parent_hash=before.sha256 if before else None,
            inputs_hash=content_hash(forcing.mass[at], forcing.auxiliary[at], forcing.static[at]),
        )
    with database.transaction() as session:
        for basin in sorted(new):  # one order, so that two forecasts cannot wait for each other
            basins.lock(session, basin)
            if series.stamp(session, basin, loaded.version.product) != forcings[basin].stamp:
                problems[basin] = f"{basin}: its forcing was revised meanwhile: forecast again."
            else:
                chunk[basin] = states.put(session, new[basin], clock.wall())


def _conserves(loaded: LoadedVersion) -> bool:
    return loaded.ensemble.conserving


def member_states(kept: Sequence[states.State | None], members: int) -> list[ArrayMap] | None:
    """Return kept states of several basins as one map a member, basins first; None for empty stores."""
    if kept[0] is None:
        return None
    arrays = [state.arrays for state in kept if state is not None]
    return [{name: np.stack([one[name][member] for one in arrays]) for name in arrays[0]} for member in range(members)]


def _open_ledger(
    forcing: Forcing, outputs: ArrayMap, start: list[ArrayMap] | None, last: list[ArrayMap], at: int
) -> str | None:
    """Say which member's ledger does not close over a segment, or has negative water, or None."""
    members = len(last)
    ledgers = close(
        np.broadcast_to(forcing.mass[at], (members, forcing.mass.shape[1])),
        outputs["discharge"][:, at],
        outputs["loss"][:, at],
        np.zeros(members) if start is None else stored(start, at),
        stored(last, at),
        dtype=np.float32,
    )
    for member, ledger in enumerate(ledgers):
        if not ledger.closes:
            return f"the ledger of member {member} leaves {ledger.residual_mm:g} mm unexplained."
    cells = np.stack([state["c"][at] for state in last])
    for member, fault in negative_water(outputs["discharge"][:, at], outputs["loss"][:, at], cells).items():
        return f"the ledger of member {member} cannot be right: {fault}."
    return None


def stored(state: list[ArrayMap], at: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the water that each member's cells hold in one basin, (members,) in mm."""
    return np.array([member["c"][at].sum(dtype=np.float64) for member in state])
