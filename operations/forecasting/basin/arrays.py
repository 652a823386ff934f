"""The arrays of a basin's forecast, as a run stores them."""

from collections.abc import Iterator, Sequence

import numpy as np

from hydrology.base.absent import Absent
from hydrology.extremes.rain_margin import RAIN_MM, START_LEADS, WINDOW_DAYS
from hydrology.uncertainty.error_model import LEVELS, MAX_GAP
from hydrology.uncertainty.weighted import SPREAD_SOURCES, divided_variance, weighted_mean, weighted_quantiles
from hydrology.water.storage import Ages
from models.arrays import Array
from operations.forecasting.basin.inputs import SimulatedBasin, flattened
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.simulate import StorageResult
from records.runs import run_arrays, run_types


def arrays_of(computed: SimulatedBasin) -> Iterator[run_arrays.RunSeries]:
    """Yield the discharge, and, where the network's cells hold water, the water of the basin."""
    yield from _discharge_series(computed)
    if computed.flow.water is not None:
        yield from _water_series(computed, computed.flow.water)
        yield _origin_series(computed, computed.flow.water)
        yield from _age_series(computed)
    if computed.peaks_by_rain is not None:
        axes = {
            "window": WINDOW_DAYS,
            "lead": [computed.days.filled + lead for lead in START_LEADS],
            "rain": RAIN_MM,
            "member": computed.labels,
        }
        yield run_arrays.RunSeries(run_types.PEAKS_BY_RAIN, "mm/day", axes, computed.peaks_by_rain)
        yield from _error_shifts(computed)


def _error_shifts(computed: SimulatedBasin) -> Iterator[run_arrays.RunSeries]:
    if isinstance(calibration := computed.calibration, Calibration):
        first, last = START_LEADS[0], START_LEADS[-1] + WINDOW_DAYS[-1] - 1
        leads = [computed.days.filled + lead for lead in range(first, last + 1)]
        shifts = calibration.root_shifts(computed.mean(computed.flow.discharge).mean(axis=0), leads)
        axes = {"lead": leads, "flow": calibration.error_model.errors.class_flow.tolist()}
        yield run_arrays.RunSeries(run_types.ERROR_SHIFTS, "(mm/day)^(1/3)", axes, shifts.astype(np.float32))


def _discharge_series(computed: SimulatedBasin) -> Iterator[run_arrays.RunSeries]:
    discharge, leads, traces = computed.flow.discharge, computed.leads, computed.traces
    quantiles = computed.quantiles(discharge, run_types.QUANTILES).astype(np.float32)
    members = {"member": computed.labels}
    if traces is None:
        yield run_arrays.RunSeries("discharge", "mm/day", {**members, "lead": leads}, discharge[:, 0])
        yield run_arrays.RunSeries("precipitation", "mm/day", {"lead": leads}, computed.rain[0])
    else:
        axes = {"trace": traces, "lead": leads}
        yield run_arrays.RunSeries("discharge", "mm/day", {**members, **axes}, discharge)
        yield run_arrays.RunSeries("precipitation", "mm/day", axes, computed.rain)
    yield run_arrays.RunSeries(
        "discharge_quantiles", "mm/day", {"level": run_types.QUANTILES, "lead": leads}, quantiles
    )
    if computed.weights is not None:  # readers give every member the same weight
        mean, levels = computed.mean_of_traces(discharge), computed.quantiles(discharge[..., :MAX_GAP], LEVELS)
        yield run_arrays.RunSeries(run_arrays.MEAN_OF_MEMBERS, "mm/day", {"lead": leads}, mean)
        axes_of_levels = {"level": LEVELS, "lead": leads[:MAX_GAP]}
        yield run_arrays.RunSeries(run_arrays.LEVELS_OF_MEMBERS, "mm/day", axes_of_levels, levels.astype(np.float32))
    if (of_states := computed.inputs.of_states) is not None:
        variance = divided_variance(of_states, computed.weights).astype(np.float32)
        yield run_arrays.RunSeries(run_types.VARIANCE, "mm2/day2", {"source": SPREAD_SOURCES, "lead": leads}, variance)
    if not isinstance(normal := computed.inputs.normal, Absent):
        yield run_arrays.RunSeries(run_arrays.NORMAL, "mm/day", {"lead": leads}, normal.astype(np.float32))
    if isinstance(computed.calibration, Calibration):
        flow = computed.calibration.of(computed.mean(discharge))
        yield run_arrays.RunSeries(run_arrays.CALIBRATED, "mm/day", {"level": LEVELS, "lead": leads}, flow.quantiles)
        labels = list(range(len(flow.paths)))
        yield run_arrays.RunSeries(run_arrays.PATHS, "mm/day", {"path": labels, "lead": leads}, flow.paths)


def _water_series(computed: SimulatedBasin, water: StorageResult) -> Iterator[run_arrays.RunSeries]:
    """Yield loss, storage, snow and its spread: of each member, or with traces the members' mean of each."""
    cells = np.asarray(computed.at_t0.state.arrays["c"])
    traces, labels = computed.traces, computed.labels
    arrays = {"loss": water.loss, "storage": water.storage} | ({} if water.snow is None else {"snow": water.snow})
    for name, values in arrays.items():
        unit = "mm/day" if name == "loss" else "mm"
        if traces is None:
            yield run_arrays.RunSeries(name, unit, {"member": labels, "lead": computed.leads}, values[:, 0])
        else:
            mean = computed.mean(values).astype(np.float32)
            yield run_arrays.RunSeries(name, unit, {"trace": traces, "lead": computed.leads}, mean)
    if water.snow is not None:
        spread = computed.quantiles(water.snow, run_types.SPREAD_LEVELS).astype(np.float32)
        axes = {"level": run_types.SPREAD_LEVELS, "lead": computed.leads}
        yield run_arrays.RunSeries(run_types.SNOW_SPREAD, "mm", axes, spread)
    yield run_arrays.RunSeries("cells_at_t0", "mm", {"member": labels, "cell": list(range(cells.shape[-1]))}, cells)


def _origin_series(computed: SimulatedBasin, water: StorageResult) -> run_arrays.RunSeries:
    """Return the discharge by the origin of its water at T0. Mean, 5 and 95 % over members and traces."""
    snow, other, later = (flattened(part) for part in np.moveaxis(water.discharge_by_origin, -1, 0))
    parts = {"stored": snow + other, "yet_to_fall": later}
    if water.snow is not None:
        parts |= {"snow": snow, "other": other}
    return _parts_series(computed, run_types.ORIGIN, "origin", list(parts), np.stack(list(parts.values())))


def _age_series(computed: SimulatedBasin) -> Iterator[run_arrays.RunSeries]:
    if computed.by_age is not None:
        parts = np.moveaxis(computed.by_age, -1, 0)
        of_both = parts.reshape(len(parts), -1, parts.shape[-1])
        yield _parts_series(computed, run_types.AGE, "age", Ages(computed.days.t0).names, of_both)


def _parts_series(
    computed: SimulatedBasin, name: str, axis: str, parts: Sequence[str], values: Array
) -> run_arrays.RunSeries:
    """Return the mean, 5 and 95 % of parts of the discharge (parts, members and traces, leads)."""
    rows, weights = np.moveaxis(values, 1, 0), computed.weights_of_rows
    mean, (low, high) = weighted_mean(rows, weights), weighted_quantiles(rows, run_types.SPREAD_LEVELS, weights)
    shown = np.stack([mean, low, high], axis=1).astype(np.float32)
    axes = {axis: parts, "statistic": run_types.PART_STATISTICS, "lead": computed.leads}
    return run_arrays.RunSeries(name, "mm/day", axes, shown)
