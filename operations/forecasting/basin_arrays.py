"""The arrays of a basin's forecast, as a run stores them, and its ledgers, which decide whether it is issued."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.extremes.rain_margin import RAIN_MM, START_LEADS, WINDOW_DAYS
from hydrology.uncertainty.error_model import LEVELS, MAX_GAP
from hydrology.uncertainty.weighted import SPREAD_SOURCES, divided_variance, weighted_mean, weighted_quantiles
from hydrology.water.ledger import PRECIPITATION, Ledgers, close, close_since_empty, negative_water
from hydrology.water.storage import Ages
from models.forcing import Array
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.simulate import StorageResult
from operations.forecasting.simulated_basin import SimulatedBasin, flattened, joined, stored
from records.runs import run_arrays, run_types
from records.runs.run_arrays import RunSeries, SinceEmpty


def arrays_of(computed: SimulatedBasin) -> Iterator[RunSeries]:
    """Yield the discharge, and, where the network's cells hold water, the water of the basin."""
    yield from _discharge_series(computed)
    if computed.flow.water is not None:
        yield from _water_series(computed, computed.flow.water)
        yield from _parts_of_discharge(computed, computed.flow.water)
    peaks = joined([one.peaks_by_rain for one in computed.parts], axis=-1)
    if peaks is None:
        return
    past, calibration = computed.days.filled, computed.calibration
    axes = {"window": WINDOW_DAYS, "lead": [past + lead for lead in START_LEADS]}
    yield RunSeries(run_types.PEAKS_BY_RAIN, "mm/day", {**axes, "rain": RAIN_MM, "member": computed.labels}, peaks)
    if isinstance(calibration, Calibration):
        leads = [past + lead for lead in range(START_LEADS[0], START_LEADS[-1] + WINDOW_DAYS[-1])]
        shifts = calibration.root_shifts(computed.mean(computed.flow.discharge).mean(axis=0), leads)
        of_flow = {"lead": leads, "flow": calibration.error_model.errors.class_flow.tolist()}
        yield RunSeries(run_types.ERROR_SHIFTS, "(mm/day)^(1/3)", of_flow, shifts.astype(np.float32))


def _discharge_series(computed: SimulatedBasin) -> Iterator[RunSeries]:
    discharge, leads, traces, labels = computed.flow.discharge, computed.leads, computed.traces, computed.labels
    quantiles = computed.quantiles(discharge, run_types.QUANTILES).astype(np.float32)
    if traces is None:
        yield RunSeries("discharge", "mm/day", {"member": labels, "lead": leads}, discharge[:, 0])
        yield RunSeries("precipitation", "mm/day", {"lead": leads}, computed.rain[0])
    else:
        yield RunSeries("discharge", "mm/day", {"member": labels, "trace": traces, "lead": leads}, discharge)
        yield RunSeries("precipitation", "mm/day", {"trace": traces, "lead": leads}, computed.rain)
    yield RunSeries("discharge_quantiles", "mm/day", {"level": run_types.QUANTILES, "lead": leads}, quantiles)
    if computed.weights is not None:  # readers give every member the same weight
        mean, levels = computed.mean_of_traces(discharge), computed.quantiles(discharge[..., :MAX_GAP], LEVELS)
        yield RunSeries(run_arrays.MEAN_OF_MEMBERS, "mm/day", {"lead": leads}, mean)
        of_levels = {"level": LEVELS, "lead": leads[:MAX_GAP]}
        yield RunSeries(run_arrays.LEVELS_OF_MEMBERS, "mm/day", of_levels, levels.astype(np.float32))
    of_states = joined([one.of_states for one in computed.parts], axis=1)
    if of_states is not None:
        variance = divided_variance(of_states, computed.weights).astype(np.float32)
        yield RunSeries(run_types.VARIANCE, "mm2/day2", {"source": SPREAD_SOURCES, "lead": leads}, variance)
    if not isinstance(normal := computed.references.normal, Absent):
        yield RunSeries(run_arrays.NORMAL, "mm/day", {"lead": leads}, normal.astype(np.float32))
    if isinstance(computed.calibration, Calibration):
        flow = computed.calibration.of(computed.mean(discharge))
        yield RunSeries(run_arrays.CALIBRATED, "mm/day", {"level": LEVELS, "lead": leads}, flow.quantiles)
        paths = list(range(len(flow.paths)))
        yield RunSeries(run_arrays.PATHS, "mm/day", {"path": paths, "lead": leads}, flow.paths)


def _water_series(computed: SimulatedBasin, water: StorageResult) -> Iterator[RunSeries]:
    """Yield loss, storage, snow and its spread: of each member, or with traces the members' mean of each."""
    cells = np.asarray(computed.at_t0.state.arrays["c"])
    traces, labels, leads = computed.traces, computed.labels, computed.leads
    arrays = {"loss": water.loss, "storage": water.storage} | ({} if water.snow is None else {"snow": water.snow})
    for name, values in arrays.items():
        unit = "mm/day" if name == "loss" else "mm"
        if traces is None:
            yield RunSeries(name, unit, {"member": labels, "lead": leads}, values[:, 0])
        else:
            yield RunSeries(name, unit, {"trace": traces, "lead": leads}, computed.mean(values).astype(np.float32))
    if water.snow is not None:
        spread = computed.quantiles(water.snow, run_types.SPREAD_LEVELS).astype(np.float32)
        yield RunSeries(run_types.SNOW_SPREAD, "mm", {"level": run_types.SPREAD_LEVELS, "lead": leads}, spread)
    yield RunSeries("cells_at_t0", "mm", {"member": labels, "cell": list(range(cells.shape[-1]))}, cells)


def _parts_of_discharge(computed: SimulatedBasin, water: StorageResult) -> Iterator[RunSeries]:
    snow, other, later = (flattened(part) for part in np.moveaxis(water.discharge_by_origin, -1, 0))
    parts = {"stored": snow + other, "yet_to_fall": later}
    if water.snow is not None:
        parts |= {"snow": snow, "other": other}
    yield _parts_series(computed, run_types.ORIGIN, "origin", list(parts), np.stack(list(parts.values())))
    by_age = joined([one.by_age for one in computed.parts])
    if by_age is not None:
        ages = np.moveaxis(by_age, -1, 0)
        of_both = ages.reshape(len(ages), -1, ages.shape[-1])
        yield _parts_series(computed, run_types.AGE, "age", Ages(computed.days.t0).names, of_both)


def _parts_series(computed: SimulatedBasin, name: str, axis: str, parts: Sequence[str], values: Array) -> RunSeries:
    """Return the mean, 5 and 95 % of parts of the discharge (parts, members and traces, leads)."""
    rows, weights = np.moveaxis(values, 1, 0), computed.weights_of_rows
    mean, (low, high) = weighted_mean(rows, weights), weighted_quantiles(rows, run_types.SPREAD_LEVELS, weights)
    axes = {axis: parts, "statistic": run_types.PART_STATISTICS, "lead": computed.leads}
    return RunSeries(name, "mm/day", axes, np.stack([mean, low, high], axis=1).astype(np.float32))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ledger of each member, with traces also as an array of all, and why the basin is withheld; None if not."""

    ledgers: Sequence[run_arrays.Ledger] = ()
    series: Sequence[RunSeries] = ()
    reason: Absent | None = None


def verdict(computed: SimulatedBasin) -> Verdict:
    """Close the ledgers of the days ahead; a network whose cells hold no water has none."""
    water, traces = computed.flow.water, computed.traces
    if water is None:
        return Verdict()
    rain = computed.rain_of_members
    before = np.repeat(stored(computed.at_t0.archived)[:, np.newaxis], rain.shape[1], axis=1)
    flows_and_stores: list[npt.NDArray[Any]] = [rain, computed.flow.discharge, water.loss, before, water.at_end]
    booked = {name: np.repeat(amounts, rain.shape[1]) for name, amounts in computed.at_t0.booked.items()}
    closed = close(*map(flattened, flows_and_stores), dtype=np.float32, booked=booked)
    ledgers, series = _ledgers(computed, closed), list[RunSeries]()
    if traces is not None:
        entries = [*closed.amounts.T, closed.residual_mm, closed.tolerance * closed.scale_mm]
        axes = {"entry": (*closed.terms, *run_types.CLOSURE), "member": computed.labels, "trace": traces}
        values = np.stack(entries).astype(np.float32).reshape([len(labels) for labels in axes.values()])
        series.append(RunSeries(run_arrays.LEDGER, "mm", axes, values))
    if computed.weights is not None:
        ledgers.append(version_ledger(computed, computed.weights, closed, ledgers))
    reason = _why_negative(computed, water)
    if names := [_name(ledger.member, ledger.trace) for ledger in ledgers if not ledger.closes]:
        reason = absent(Reason.LEDGER_OPEN, members=", ".join(names))
    return Verdict(ledgers, series, reason)


def _ledgers(computed: SimulatedBasin, closed: Ledgers) -> list[run_arrays.Ledger]:
    labels, traces, archived = computed.labels, computed.traces, computed.at_t0.archived
    of_members = closed.relative.reshape(len(labels), -1)
    assert archived.sums is not None  # where there are ledgers, the network conserves mass
    since_empty = close_since_empty(archived.sums, stored(archived))
    worst, ledgers = of_members.argmax(axis=1).tolist(), []
    for member, (label, trace, since) in enumerate(zip(labels, worst, since_empty, strict=True)):
        ledger = closed.of(member * of_members.shape[1] + trace)
        ledgers.append(
            run_arrays.Ledger(
                member=label,
                terms=ledger.terms,
                residual_mm=ledger.residual_mm,
                tolerance_mm=ledger.tolerance * ledger.scale_mm,
                since_empty=SinceEmpty(residual_mm=since.residual_mm, precipitation_mm=since.scale_mm),
                trace=None if traces is None else traces[trace],
            )
        )
    return ledgers


def version_ledger(
    computed: SimulatedBasin,
    weights: npt.NDArray[np.float64],
    closed: Ledgers,
    of_members: Sequence[run_arrays.Ledger],
) -> run_arrays.Ledger:
    """Return the ledger of a combined version: the weighted mean over its members, with the precipitation of each
    product as a term of its own, times the weight of its parts."""
    count = len(computed.labels)
    amounts = closed.amounts.reshape(count, -1, len(closed.terms)).mean(axis=1)
    terms = dict(zip(closed.terms, weights @ amounts, strict=True))
    rain = weights * amounts[:, closed.terms.index(PRECIPITATION)]
    del terms[PRECIPITATION]
    of_product: dict[str, float] = {}
    products = [one.part.product for one in computed.parts for _ in one.part.members]
    for product, amount in zip(products, rain.tolist(), strict=True):
        name = f"{PRECIPITATION} of {product}"
        of_product[name] = of_product.get(name, 0.0) + amount
    of_terms = {name: float(amount) for name, amount in {**of_product, **terms}.items()}
    scale = float(weights @ closed.scale_mm.reshape(count, -1).mean(axis=1))
    since_empty = {
        name: float(weights @ [getattr(ledger.since_empty, name) for ledger in of_members])
        for name in ("residual_mm", "precipitation_mm")
    }
    return run_arrays.Ledger(
        member=run_arrays.OF_VERSION,
        terms=of_terms,
        residual_mm=math.fsum(of_terms.values()),
        tolerance_mm=closed.tolerance * scale,
        since_empty=SinceEmpty(**since_empty),
    )


def _why_negative(computed: SimulatedBasin, water: StorageResult) -> Absent | None:
    discharge, loss, lowest = (flattened(part) for part in (computed.flow.discharge, water.loss, water.lowest))
    for row, fault in negative_water(discharge, loss, lowest).items():
        member, trace = divmod(row, water.loss.shape[1])
        traces = computed.traces
        name = _name(computed.labels[member], None if traces is None else traces[trace])
        return absent(Reason.LEDGER_WRONG, member=name, fault=fault)
    return None


def _name(member: str, trace: str | None) -> str:
    return member if trace is None else f"{member} with trace {trace}"
