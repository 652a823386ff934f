"""Replays of the past from stored states: the age of a forecast's water, and the share of its spread that is due to T0.

Water by age: precipitation until T0 is tagged by its season. Tags do not change the total water by a single bit, so the
replay must end in the stored state of T0; where it does not, no age is reported.

Perturbed states: the uncertainty of a state is derived from that of past precipitation. Each is a replay of the last
year or two with perturbed precipitation (`hydrology.weather.forecast_errors.rain_factors`), and a forecast is
computed from each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import over_states
from hydrology.water.storage import MIN_DAYS, Ages
from hydrology.weather.forecast_errors import rain_factors
from models.ensemble import ArrayMap
from models.forcing import Array, Forcing
from operations.basin_data.dataset import BasinForcing, stacked
from operations.forecasting.plans import PartPlan
from operations.forecasting.simulate import InitialState, flows
from operations.states.advance_states import ONE_DAY, groups, member_states
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs import states
from records.runs.tables import State

REPLAYED_DAYS = np.timedelta64(365, "D")
"""A replay starts from the newest stored state this much older than T0: stores remember rain for about a year."""


def from_perturbed_states(
    database: Database, plan: PartPlan, at_t0: Mapping[str, State], count: int
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the mean and variance of discharge over perturbed states; (2, members, traces, days)."""
    loaded, result = plan.loaded, {}
    with database.reading() as session:
        before = {
            basin: states.newest_valid(session, loaded.version.id, basin, state.day - REPLAYED_DAYS)
            for basin, state in at_t0.items()
        }
    for basin, state in at_t0.items():
        perturbed = _perturbed(loaded, plan.forcings[basin].forcing, before[basin], state, count)
        starts = [InitialState(of_state, plan.weather[basin], None) for of_state in perturbed]
        discharge = np.stack([flow.discharge for flow in flows(loaded, starts)], axis=2)
        result[basin] = over_states(discharge)
    return result


def _perturbed(loaded: LoadedVersion, record: Forcing, before: State | None, at_t0: State, count: int) -> list[State]:
    """Return perturbed states of T0; replayed from `before`, None for the empty store at the record's start."""
    first = record.period.first if before is None else before.day + ONE_DAY
    replayed = record.over(Period(first, at_t0.day))
    chance = np.random.default_rng(int(at_t0.day.astype(int)))  # basins replayed from the same day share their errors
    several = replayed.basins(np.zeros(count, np.int64))
    several = replace(several, mass=(several.mass * rain_factors(replayed.period, count, chance)).astype(np.float32))
    start = member_states([before] * count, len(loaded.labels))
    _, last = loaded.ensemble.simulate(several, start, ("discharge",))
    return [
        replace(at_t0, arrays={name: np.stack([member[name][number] for member in last]) for name in last[0]})
        for number in range(count)
    ]


def cells_by_age(database: Database, plan: PartPlan, at_t0: Mapping[str, State]) -> dict[str, Array | Absent]:
    """Return the cells' water at T0 by its age (`Ages`), (members, cells, ages) in mm, or why it is unknown."""
    loaded, ages, begins = plan.loaded, Ages(plan.days.t0), {name: plan.forcings[name].period.first for name in at_t0}
    if not loaded.ensemble.conserving:
        return dict.fromkeys(at_t0, absent(Reason.NO_WATER_IN_CELLS))
    lengths = {name: int((ages.t0 - first).astype(int)) for name, first in begins.items()}
    shown: dict[str, Array | Absent] = {
        name: absent(Reason.RECORD_TOO_SHORT_FOR_AGE, days=days) for name, days in lengths.items() if days < MIN_DAYS
    }
    old = [name for name in at_t0 if name not in shown]
    with database.reading() as session:
        started_at = states.newest_valid_many(session, loaded.version.id, old, ages.begin - ONE_DAY)
    firsts = {name: state.day + ONE_DAY if state else begins[name] for name, state in started_at.items()}
    for names in groups(firsts, started_at):
        forcings, started = [plan.forcings[name] for name in names], [started_at[name] for name in names]
        past = _Past(loaded, forcings, started, firsts[names[0]], ages)
        shown |= dict(zip(names, past.cells([at_t0[name] for name in names]), strict=True))
    return shown


@dataclass(frozen=True, slots=True)
class _Past:
    """The past of basins with the same first day, all from a state or all from the empty store."""

    loaded: LoadedVersion
    forcings: Sequence[BasinForcing]
    started: Sequence[State | None]
    first: Day
    ages: Ages

    def cells(self, at_t0: Sequence[State]) -> Iterator[Array | Absent]:
        ends = self._ends()
        for at, state in enumerate(at_t0):
            same = all(
                np.array_equal(end[name][at], values[member])
                for name, values in state.arrays.items()
                for member, end in enumerate(ends)
            )
            yield np.stack([end["tags"][at] for end in ends]).astype(np.float32) if same else absent(Reason.OTHER_PAST)

    def _ends(self) -> list[ArrayMap]:
        """Return each member's states of T0, (basins, ...), with the water of their cells tagged."""
        days = Period(max(self.first, self.ages.begin), self.ages.t0)
        started_at = [all_older(state, self.ages) for state in self._at_begin()]
        each = self.loaded.ensemble.each(self._over(days), started_at, (), self.ages.of(days.days))
        return [end for _, end in each]

    def _at_begin(self) -> list[ArrayMap]:
        ensemble, started_at = self.loaded.ensemble, member_states(self.started, len(self.loaded.labels))
        if self.first < self.ages.begin:
            return ensemble.simulate(self._over(Period(self.first, self.ages.begin - ONE_DAY)), started_at, ())[1]
        if started_at is not None:
            return started_at
        empty = (network.empty_state(len(self.forcings)) for network in ensemble.networks)
        return [{name: values.cpu().numpy() for name, values in state.items()} for state in empty]

    def _over(self, days: Period) -> Forcing:
        return stacked([forcing.forcing.over(days) for forcing in self.forcings])


def all_older(state: ArrayMap, ages: Ages) -> ArrayMap:
    """Return a member's state with all water of its cells tagged with the oldest age."""
    tags = np.zeros((*state["c"].shape, len(ages.names)), np.float32)
    tags[..., 0] = state["c"]
    return state | {"tags": tags}
