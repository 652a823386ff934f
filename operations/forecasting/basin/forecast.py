"""Forecasts basins in the steps of one: water at T0, simulation, arrays, ledgers, summary."""

from collections.abc import Iterator, Mapping

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from operations.forecasting.basin.arrays import arrays_of
from operations.forecasting.basin.inputs import BasinInputs, SimulatedBasin, WaterAtT0, water_at_t0
from operations.forecasting.basin.ledger import verdict
from operations.forecasting.basin.summary import run_basin
from operations.forecasting.days import RunDays
from operations.forecasting.rain_response import peaks_by_rain
from operations.forecasting.simulate import InitialState, discharge_by_age, flows
from operations.versions.load_networks import LoadedVersion
from records.runs import runs
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping


def forecasts_of(
    loaded: LoadedVersion, inputs: Mapping[str, BasinInputs], days: RunDays, *, rain_response: bool = False
) -> Iterator[runs.BasinResult]:
    """Run the version over the days after T0, from the states of T0.

    A basin is withheld if its ledger does not close for every member and trace, before or after T0.

    Args:
        rain_response: whether to simulate the response of flow to rain, too.
    """
    for computed in computed_of(loaded, inputs, days, rain_response=rain_response):
        yield result_of(computed) if isinstance(computed, SimulatedBasin) else computed


def computed_of(
    loaded: LoadedVersion, inputs: Mapping[str, BasinInputs], days: RunDays, *, rain_response: bool = False
) -> Iterator[SimulatedBasin | runs.BasinResult]:
    """Do what `forecasts_of` does, and yield what was computed of each basin, or the result of one without forecast."""
    started: list[tuple[BasinInputs, WaterAtT0]] = []
    for basin, start in inputs.items():
        if start.advanced.problem is not None:
            yield without_forecast(basin, "withheld", start.advanced.problem)
            continue
        changed = water_at_t0(loaded, start)
        if isinstance(changed, Absent):
            yield without_forecast(basin, "failed", changed)
        else:
            started.append((start, changed))
    ahead = [_ahead(loaded, start, water.state) for start, water in started]
    by_age = discharge_by_age(loaded, [start for start in ahead if start.cells_by_age is not None])
    peaks = peaks_by_rain(loaded, ahead, days.filled) if rain_response else [None] * len(ahead)
    for (start, water), of_basin, flow, of_rain in zip(started, ahead, flows(loaded, ahead), peaks, strict=True):
        shown = None if of_basin.cells_by_age is None else next(by_age)
        yield SimulatedBasin(
            loaded=loaded, inputs=start, at_t0=water, days=days, flow=flow, by_age=shown, peaks_by_rain=of_rain
        )


def result_of(computed: SimulatedBasin) -> runs.BasinResult:
    """Return the result of a basin: its arrays, ledgers and summary."""
    if not computed.flow.finite:
        return without_forecast(computed.inputs.basin.id, "failed", absent(Reason.NOT_FINITE))
    closed = verdict(computed)
    return runs.BasinResult(
        basin=run_basin(computed, closed.reason),
        series=[*arrays_of(computed), *closed.series],
        ledgers=closed.ledgers,
    )


def without_forecast(basin: str, status: runs.BasinStatus, reason: Absent) -> runs.BasinResult:
    """Return the result of a basin without a forecast, with the reason."""
    return runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status=status, reason=reason))


def _ahead(loaded: LoadedVersion, start: BasinInputs, state: State) -> InitialState:
    cells = None if isinstance(start.cells_by_age, Absent) else start.cells_by_age
    return InitialState(state, start.weather, _readable_snow(loaded, start), cells)


def _readable_snow(loaded: LoadedVersion, start: BasinInputs) -> SnowMapping | None:
    return start.snow if loaded.ensemble.conserving and not isinstance(start.snow, Absent) else None
