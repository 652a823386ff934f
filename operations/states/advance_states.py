"""States: what the cells of a version hold in a basin at the end of a day.

A basin's first state begins with empty cells (the empty store) on the first day of its record. Every later state is
advanced from a stored one, so the state of a day does not depend on which days were forecast before. States are stored
at the end of every water year on the way, and at T0. Each carries the sums of its inflow and outflow since the empty
store, so that a leak too small to show over any one span shows over all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period, month
from hydrology.base.digests import inputs_sha256
from hydrology.base.reasons import Reason
from hydrology.uncertainty.error_model import MAX_GAP
from hydrology.water.ledger import Sums, sums_after
from models.ensemble import GROUP, ArrayMap, balance_fault
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing, revised, stacked
from operations.versions.load_networks import LoadedVersion
from records.basins import basins
from records.database.work import Work
from records.runs import states
from records.runs.tables import NewState, State

log = structlog.get_logger()

ONE_DAY = np.timedelta64(1, "D")
ADVANCING = "basin-days to T0"
"""What is counted while states advance."""


@dataclass(frozen=True, slots=True)
class Advanced:
    """A basin's state at the end of T0; the first axis of its arrays is the member.

    The parent is the newest state stored before; None where the run started from the empty store. `problem`: why the
    basin cannot be forecast, e.g. a ledger that did not close on the way to T0.
    """

    state: State | None
    parent: State | None
    problem: Absent | None = None


def advance(
    work: Work,
    loaded: LoadedVersion,
    forcings: Mapping[str, BasinForcing],
    t0: Day,
    *,
    store_states: bool = True,
    since: Mapping[str, State | None] | None = None,
) -> dict[str, Advanced]:
    """Advance the states of basins to the end of T0, and store them.

    Each basin's record must reach T0. It starts from `since`, None for the empty store; by default from the newest
    valid stored state.
    """
    if since is not None:
        stored = dict(since)
    else:
        with work.database.reading() as session:
            stored = states.newest_valid_many(session, loaded.version.id, [*forcings], t0)
    starts = {basin: state.day + ONE_DAY if state else forcings[basin].period.first for basin, state in stored.items()}
    total = sum(int((t0 - start).astype(int)) + 1 for start in starts.values())
    done = 0
    advancing = _Advance(work, loaded, forcings, store_states)
    result: dict[str, Advanced] = {}
    for names in groups(starts, stored):
        chunk = {basin: stored[basin] for basin in names}
        for days in _segments(starts[names[0]], t0):
            chunk |= advancing.store_unchanged(advancing.over(days, chunk))
            done += len(days) * len(names)
            work.show(done, total, ADVANCING)
        for basin in names:
            result[basin] = Advanced(chunk[basin], stored[basin], advancing.problems.get(basin))
    return result


def groups(starts: Mapping[str, Day], stored: Mapping[str, State | None]) -> Iterator[list[str]]:
    """Group basins by start day, and by whether they start from a state or the empty store."""
    beginnings = {basin: (start, stored[basin] is None) for basin, start in starts.items()}
    for beginning in sorted(set(beginnings.values())):
        names = [basin for basin, value in beginnings.items() if value == beginning]
        for first in range(0, len(names), GROUP):
            yield names[first : first + GROUP]


def _segments(first: Day, last: Day) -> Iterator[Period]:
    if last < first:
        return
    days = Period(first, last).days
    ends = [int(i) for i in np.flatnonzero((month(days) == 9) & (month(days + ONE_DAY) == 10))]
    begin = 0
    for end in dict.fromkeys([*ends, len(days) - 1]):
        yield Period(days[begin], days[end])
        begin = end + 1


@dataclass(frozen=True, slots=True)
class _Advance:
    """Advances a version's states; `problems` receives why a basin cannot be advanced."""

    work: Work
    loaded: LoadedVersion
    forcings: Mapping[str, BasinForcing]
    store_states: bool
    problems: dict[str, Absent] = field(default_factory=dict)

    def over(self, days: Period, before: Mapping[str, State | None]) -> dict[str, NewState]:
        """Run basins over a span of days from the states before it. Return the new states."""
        going = [basin for basin in before if basin not in self.problems]
        if not going:
            return {}
        version, conserves = self.loaded.version, self.loaded.ensemble.conserving
        forcing = stacked([self.forcings[basin].forcing.over(days) for basin in going])
        start = member_states([before[basin] for basin in going], len(self.loaded.labels))
        outputs, last = self.loaded.ensemble.simulate(
            forcing, start, ("discharge", "loss") if conserves else ("discharge",)
        )
        new = {}
        for at, basin in enumerate(going):
            parent = before[basin]
            sums = _sums(parent, forcing, outputs, at) if conserves else None
            if conserves and (problem := balance_fault(forcing.mass[at], outputs, start, last, sums, at)):
                self.problems[basin] = absent(
                    Reason.LEDGER_WRONG_UNTIL_T0, basin=basin, first=str(days.first), last=str(days.last), fault=problem
                )
                continue
            new[basin] = NewState(
                version_id=version.id,
                basin_id=basin,
                day=days.last,
                product=version.product,
                arrays={name: np.stack([member[name][at] for member in last]) for name in last[0]},
                parent_day=parent.day if parent else None,
                parent_hash=parent.sha256 if parent else None,
                inputs_hash=inputs_sha256(forcing.mass[at], forcing.auxiliary[at], forcing.static[at]),
                spin_up_days=len(days) if parent is None else parent.spin_up_days + len(days),
                sums=sums,
                recent_flow=_recent_flow(parent, outputs, at),
            )
        return new

    def store_unchanged(self, new: Mapping[str, NewState]) -> dict[str, State]:
        """Store states, or only return them, of the basins whose forcing and attributes were not revised meanwhile."""
        if not new:
            return {}
        at = self.work.clock.wall()
        with self.work.database.transaction() as session:
            basins.lock(session, *new)
            changed = revised(session, self.loaded, {basin: self.forcings[basin] for basin in new})
            self.problems.update({basin: absent(Reason.FORCING_REVISED, basin=basin) for basin in sorted(changed)})
            unchanged = [new[basin] for basin in sorted(new) if basin not in changed]
            if self.store_states:
                after = states.put(session, unchanged, at)
            else:
                after = [states.hashed(one, at) for one in unchanged]
        return {one.basin_id: one for one in after}


def member_states(stored: Sequence[State | None], members: int) -> list[ArrayMap] | None:
    """Return the states of basins as one map per member, basins on the first axis; None for empty stores."""
    if stored[0] is None:
        return None
    arrays = [state.arrays for state in stored if state is not None]
    return [
        {name: np.stack([state[name][member] for state in arrays]) for name in arrays[0]} for member in range(members)
    ]


def _recent_flow(before: State | None, outputs: ArrayMap, at: int) -> npt.NDArray[np.float32]:
    flow = outputs["discharge"][:, at].mean(axis=0, dtype=np.float64).astype(np.float32)
    earlier = [] if before is None or before.recent_flow is None else [before.recent_flow]
    return np.concatenate([*earlier, flow])[-MAX_GAP:]


def _sums(before: State | None, forcing: Forcing, outputs: ArrayMap, at: int) -> Sums:
    discharge = outputs["discharge"][:, at]
    rain = np.broadcast_to(forcing.mass[at], discharge.shape)
    return sums_after(before.sums if before else None, rain, discharge, outputs["loss"][:, at])
