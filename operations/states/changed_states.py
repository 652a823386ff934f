"""Changes the state of T0, never stored: by assimilating observed flow, and by the increment of a what-if run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.water.storage import incremented, smallest_factors
from jobspec.changes import Increment
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing, load_discharge
from operations.states.advance_states import ONE_DAY, member_states
from operations.versions.load_networks import LoadedVersion
from records.runs import states
from records.runs.tables import State
from records.simulations.snow_cells import SnowMapping

WINDOW_DAYS = 10
"""Length of the window of observed flow that ends at T0."""


def assimilated_states(
    session: Session, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing], at_t0: Mapping[str, State]
) -> dict[str, State | Absent]:
    """Return the states of T0 updated by the flow observed until then, or why a basin has none."""
    return {
        basin: _assimilated(session, loaded, forcings[basin].forcing, state)
        if loaded.ensemble.conserving
        else absent(Reason.NO_CELLS_TO_ASSIMILATE, basin=basin)
        for basin, state in at_t0.items()
    }


def _assimilated(session: Session, loaded: LoadedVersion, record: Forcing, state: State) -> State | Absent:
    basin, window = state.basin_id, Period(state.day - (WINDOW_DAYS - 1) * ONE_DAY, state.day)
    if record.first >= window.first:
        first = str(record.first)
        return absent(Reason.RECORD_TOO_SHORT_TO_ASSIMILATE, basin=basin, first=first, days=WINDOW_DAYS)
    observed = load_discharge(session, basin, loaded.version.area_products, Period(record.first, state.day))
    if isinstance(observed, Absent):
        return observed
    if np.isnan(observed[-WINDOW_DAYS:]).all():
        return absent(Reason.NO_FLOW_TO_ASSIMILATE, basin=basin, period=str(window))
    before = _states_before(session, loaded, record, state, window)
    recent, mean_flow = observed[None, -WINDOW_DAYS:].astype(float), float(np.nanmean(observed))
    of_members = increments(loaded.ensemble, record.over(window), before, recent, mean_flow)
    cells = np.stack([computed["c"][0] + change[0] for computed, change in of_members])
    return replace(state, arrays={**state.arrays, "c": cells.astype(np.float32)})


def _states_before(
    session: Session, loaded: LoadedVersion, record: Forcing, state: State, window: Period
) -> list[ArrayMap]:
    stored = states.newest_valid(session, loaded.version.id, state.basin_id, window.first - ONE_DAY)
    start = member_states([stored], len(loaded.labels))
    first = record.first if stored is None else stored.day + ONE_DAY
    if start is not None and first == window.first:
        return start
    return loaded.ensemble.simulate(record.over(Period(first, window.first - ONE_DAY)), start, ("discharge",))[1]


def increments(
    ensemble: Ensemble,
    window: Forcing,
    before: Sequence[ArrayMap],
    observed: npt.NDArray[np.floating],
    mean_flow: float,
) -> list[tuple[ArrayMap, npt.NDArray[np.float64]]]:
    """Return each member's computed state of T0 and its increment (samples, cells), mm; no cell becomes negative.

    Args:
        window: the days until T0, (samples, days).
        before: the states before the window, one per member.
        observed: discharge on its days, (samples, days) in mm/day, NaN where none was observed.
        mean_flow: of the basin, mm/day.
    """
    days = window.mass.shape[1]
    cells = before[0]["c"].shape[-1]
    split = [state | {"tags": _tags(state["c"], days)} for state in before]
    result = []
    wanted = ("discharge", "discharge_by_tag")
    for outputs, last in ensemble.each(window, split, wanted, cells + np.arange(days)):
        responses = outputs["discharge_by_tag"].astype(np.float64)
        misfit = observed - outputs["discharge"]
        factors = smallest_factors(responses, misfit, np.nan_to_num(observed), mean_flow, cells)
        change = np.einsum("nkg,ng->nk", last["tags"].astype(np.float64), factors)
        state = {name: values for name, values in last.items() if name != "tags"}
        result.append((state, np.maximum(change, -state["c"].astype(np.float64))))
    return result


def _tags(water: npt.NDArray[np.floating], days: int) -> npt.NDArray[np.float32]:
    """Tag the water of the cells (samples, K) by its source cell. (samples, K, K + days)."""
    samples, cells = water.shape
    tags = np.zeros((samples, cells, cells + days), np.float32)
    tags[:, np.arange(cells), np.arange(cells)] = water
    return tags


_IN_WORDS = {"snow": "cells that read as snow", "other": "cells that do not read as snow", "all": "cells"}


def with_increment(
    loaded: LoadedVersion, state: State, snow: SnowMapping | Absent, increment: Increment
) -> State | Absent:
    """Return the state with the increment in each member's cells, or why it cannot be applied."""
    basin = state.basin_id
    if not loaded.ensemble.conserving:
        return absent(Reason.NO_CELLS_TO_CHANGE, basin=basin)
    if increment.where != "all" and isinstance(snow, Absent):
        return absent(Reason.NO_SNOW_TO_CHANGE, basin=basin, why=snow)
    cells = np.asarray(state.arrays["c"])
    changed = np.empty_like(cells)
    for member, (label, network) in enumerate(zip(loaded.labels, loaded.ensemble.networks, strict=True)):
        holding = [cell for cell in range(cells.shape[-1]) if cell not in network.trash_cells]
        as_snow = [] if isinstance(snow, Absent) else snow.cells[label]
        chosen = [
            cell for cell in holding if increment.where == "all" or (cell in as_snow) == (increment.where == "snow")
        ]
        try:
            changed[member] = incremented(cells[member], chosen, increment.mm)
        except InvalidInput as error:
            cells_concerned = _IN_WORDS[increment.where]
            return absent(Reason.CELLS_CANNOT_CHANGE, basin=basin, cells=cells_concerned, member=label, why=str(error))
    return replace(state, arrays={**state.arrays, "c": changed})
