"""Past forecasts on the weather of other years (ESP), many basins at once: what the service would have issued.

T0's own year is left out, as `operations.forecasting.weather_ahead` leaves it out; the years beside it are not.
Weather of
later years than T0's is used like that of earlier ones: it shows what such a season can be, not what that one was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import opened, require_all
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.uncertainty.error_model import MAX_GAP
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing, load_forcing, stacked
from operations.forecasting.weather_ahead import RunDays, WeatherAhead, climatology
from operations.states.advance_states import ONE_DAY


@dataclass(frozen=True, slots=True)
class Hindcast:
    """One issue.

    Attributes:
        recent: the members' mean discharge of the last days until T0, (basins, days), mm/day.
        discharge: (members, basins, traces, leads), mm/day.
    """

    days: RunDays
    recent: npt.NDArray[np.float32]
    discharge: npt.NDArray[np.float32]


def read_forcings(ensemble: Ensemble, names: Sequence[str]) -> list[BasinForcing]:
    """Return the weather of the whole record of some basins."""
    database = opened()
    with database.reading() as session:
        loadings = {name: load_forcing(session, name, ensemble.config) for name in names}
    database.close()
    require_all({name: str(reason) for name, reason in loadings.items() if isinstance(reason, Absent)})
    return [loading for loading in loadings.values() if not isinstance(loading, Absent)]


def hindcasts(ensemble: Ensemble, basins: Sequence[BasinForcing], issues: Sequence[RunDays]) -> Iterator[Hindcast]:
    """Yield the forecasts of some days, in their order, from states that begin with the record.

    Args:
        basins: whose records hold the same days.
        issues: in the order of their T0.
    """
    for days, recent, states in started(ensemble, basins, issues):
        yield Hindcast(days, recent, _ahead(ensemble, basins, states, days))


def started(
    ensemble: Ensemble, basins: Sequence[BasinForcing], issues: Sequence[RunDays]
) -> Iterator[tuple[RunDays, npt.NDArray[np.float32], list[ArrayMap]]]:
    """Yield each issue with `Hindcast.recent` and each member's states of T0; the arguments are as in `hindcasts`."""
    whole = stacked([basin.forcing for basin in basins])
    states: list[ArrayMap] | None = None
    first = basins[0].period.first
    for days in issues:
        until_t0, states = ensemble.simulate(whole.over(Period(first, days.t0)), states, ("discharge",))
        recent = until_t0["discharge"][..., -MAX_GAP:].mean(axis=0, dtype=np.float64).astype(np.float32)
        first = days.t0 + ONE_DAY
        yield days, recent, states


def traces_of(basins: Sequence[BasinForcing], days: RunDays) -> tuple[Forcing, int]:
    """Return the weather of other years of all basins as one, and how many traces each has."""
    ended = basins[0].period.last
    weather = [climatology(basin.forcing.ids[0], basin, days, ended) for basin in basins]
    traces = [of_basin.forcing for of_basin in weather if isinstance(of_basin, WeatherAhead)]
    return stacked(traces), len(traces[0].ids)


def fanned_out(state: ArrayMap, count: int) -> ArrayMap:
    """Return a state once for each trace of every basin."""
    traces = np.repeat(np.arange(len(next(iter(state.values())))), count)
    return {name: values[traces] for name, values in state.items()}


def _ahead(
    ensemble: Ensemble, basins: Sequence[BasinForcing], states: Sequence[ArrayMap], days: RunDays
) -> npt.NDArray[np.float32]:
    weather, count = traces_of(basins, days)
    each = ensemble.each(weather, [fanned_out(member, count) for member in states], ("discharge",))
    flow = np.stack([outputs["discharge"] for outputs, _ in each])
    return flow.reshape(len(states), len(basins), count, days.horizon).astype(np.float32)
