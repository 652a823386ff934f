"""Forecasts basins in the steps of one: water at T0, simulation, arrays, ledgers, summary."""

from collections.abc import Iterator, Sequence

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from operations.forecasting.basin.arrays import arrays_of
from operations.forecasting.basin.inputs import BasinInputs, SimulatedBasin, SimulatedPart, StartedPart, water_at_t0
from operations.forecasting.basin.ledger import verdict
from operations.forecasting.basin.summary import run_basin
from operations.forecasting.days import RunDays
from operations.forecasting.rain_response import peaks_by_rain
from operations.forecasting.simulate import InitialState, discharge_by_age, flows
from operations.versions.load_networks import LoadedVersion
from records.database.statements import as_values
from records.runs import run_types
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart


def start_part(part: VersionPart, loaded: LoadedVersion, inputs: BasinInputs) -> StartedPart | run_types.BasinResult:
    """Return a part of a version in a basin at T0, or the result of a basin without forecast.

    The basin is withheld if the ledger of a member does not close before T0.
    """
    basin = inputs.basin.id
    if inputs.advanced.problem is not None:
        return without_forecast(basin, "withheld", inputs.advanced.problem)
    at_t0 = water_at_t0(loaded, inputs)
    if isinstance(at_t0, Absent):
        return without_forecast(basin, "failed", at_t0)
    return StartedPart(part=part.in_basin(basin), loaded=loaded, inputs=inputs, at_t0=at_t0)


def simulate_part(
    loaded: LoadedVersion, basins: Sequence[StartedPart], days: RunDays, *, rain_response: bool
) -> Iterator[SimulatedPart]:
    """Run a part over the days after T0, and yield what it computes of each basin, in their order.

    Args:
        rain_response: whether to simulate the response of flow to rain, too.
    """
    ahead = [_ahead(loaded, one) for one in basins]
    by_age = discharge_by_age(loaded, [start for start in ahead if start.cells_by_age is not None])
    peaks = peaks_by_rain(loaded, ahead, days.filled) if rain_response else [None] * len(ahead)
    for one, start, flow, of_rain in zip(basins, ahead, flows(loaded, ahead), peaks, strict=True):
        of_age = None if start.cells_by_age is None else next(by_age)
        yield SimulatedPart(**as_values(one), flow=flow, by_age=of_age, peaks_by_rain=of_rain)


def result_of(computed: SimulatedBasin) -> run_types.BasinResult:
    """Return the result of a basin: its arrays, ledgers and summary.

    It is withheld if its ledger does not close for every member and trace.
    """
    if not computed.flow.finite:
        return without_forecast(computed.inputs.basin.id, "failed", absent(Reason.NOT_FINITE))
    closed = verdict(computed)
    return run_types.BasinResult(
        basin=run_basin(computed, closed.reason),
        series=[*arrays_of(computed), *closed.series],
        ledgers=closed.ledgers,
    )


def without_forecast(basin: str, status: run_types.BasinStatus, reason: Absent) -> run_types.BasinResult:
    """Return the result of a basin without a forecast, with the reason."""
    return run_types.BasinResult(basin=run_types.RunBasin(basin_id=basin, status=status, reason=reason))


def _ahead(loaded: LoadedVersion, one: StartedPart) -> InitialState:
    inputs = one.inputs
    cells = None if isinstance(inputs.cells_by_age, Absent) else inputs.cells_by_age
    return InitialState(one.at_t0.state, inputs.weather, _readable_snow(loaded, inputs), cells)


def _readable_snow(loaded: LoadedVersion, start: BasinInputs) -> SnowMapping | None:
    return start.snow if loaded.ensemble.conserving and not isinstance(start.snow, Absent) else None
