"""The forecast of one basin in a run.

Arrays, summary, and the ledger that decides whether it is issued."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.credit import Credit
from hydrology.base.reasons import Reason
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.variance_sources import SPREAD_SOURCES
from hydrology.water.ledger import (
    ASSIMILATION,
    INCREMENT,
    Ledgers,
    Sums,
    close_since_empty,
    close_together,
    negative_water,
)
from hydrology.water.water_age import Ages
from jobspec.changes import UNCHANGED, Changes
from models.arrays import Array
from operations.data.basins import area_by
from operations.data.dataset import BasinForcing
from operations.forecasting.advance_states import ONE_DAY, Advanced
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.changed_storage import with_increment
from operations.forecasting.days import RunDays
from operations.forecasting.inputs_hash import inputs_hash
from operations.forecasting.simulate import FlowResult, InitialState, StorageResult, discharge_by_age, flows
from operations.forecasting.weather_ahead import WeatherAhead
from operations.versions.load_networks import LoadedVersion
from operations.versions.training_domain import learnt_from
from records.basins.basins import Basin
from records.runs import runs
from records.runs.bridge_used import RunBridge
from records.runs.lifetime_balance import SinceEmpty
from records.runs.run_summary import RunSummary
from records.runs.snow_summary import RunSnow
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping

Normal = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BasinStart:
    """The inputs for the forecast of one basin.

    Attributes:
        forcing: until T0 at least.
        snow: the cells that read as snow, or why none do.
        snow17: the snow of T0 by Snow-17, mm, or why it is unknown; None where it is not requested.
        credit: the credit for its weather until T0, where a feed supplied some.
        calibration: computes its calibrated quantiles, or why it has none.
        normal: the normal flow of the days ahead, (days,) in mm/day, or why it is unknown.
        snow_normal: the normal snow at T0, mm, or why it is unknown.
        cells_by_age: the water in the cells at T0 by its age (`operations.forecasting.water_age`), or why it is
            unknown.
        bridges: the bridges that its weather passed through.
        variance: of the discharge by `hydrology.uncertainty.variance_sources.SPREAD_SOURCES`, (sources, days), where
            requested.
        changes: the changes of a what-if run; the weather is changed already, the state is not.
        assimilated: the state of T0 after assimilation, or why it failed; None where it is not requested.
    """

    basin: Basin
    forcing: BasinForcing
    weather: WeatherAhead
    advanced: Advanced
    snow: SnowMapping | Absent
    snow17: float | Absent | None
    credit: Credit | None
    calibration: Calibration | Absent
    normal: Normal | Absent
    snow_normal: float | Absent
    cells_by_age: Array | Absent
    bridges: tuple[RunBridge, ...] = ()
    variance: npt.NDArray[np.float64] | None = None
    changes: Changes = UNCHANGED
    assimilated: State | Absent | None = None


def forecasts_of(loaded: LoadedVersion, starts: Mapping[str, BasinStart], days: RunDays) -> Iterator[runs.BasinResult]:
    """Run the version over the days after T0, from the states of T0.

    A basin is withheld if its ledger does not close for every member and trace, before or after T0.
    """
    started: list[tuple[BasinStart, _ChangedWater]] = []
    for basin, start in starts.items():
        if start.advanced.problem is not None:
            yield without_forecast(basin, "withheld", start.advanced.problem)
            continue
        changed = _changed_water(loaded, start)
        if isinstance(changed, Absent):
            yield without_forecast(basin, "failed", changed)
        else:
            started.append((start, changed))
    ahead = [_ahead(loaded, start, water.state) for start, water in started]
    by_age = discharge_by_age(loaded, [start for start in ahead if start.cells_by_age is not None])
    for (start, water), of_basin, flow in zip(started, ahead, flows(loaded, ahead), strict=True):
        shown = None if of_basin.cells_by_age is None else next(by_age)
        yield _Result(loaded, start, water, days, flow, shown).build()


def without_forecast(basin: str, status: runs.BasinStatus, reason: Absent) -> runs.BasinResult:
    """Return the result of a basin without a forecast, with the reason."""
    return runs.BasinResult(basin=runs.RunBasin(basin_id=basin, status=status, reason=reason))


def _ahead(loaded: LoadedVersion, start: BasinStart, state: State) -> InitialState:
    cells = None if isinstance(start.cells_by_age, Absent) else start.cells_by_age
    return InitialState(state, start.weather, _readable_snow(loaded, start), cells)


def _readable_snow(loaded: LoadedVersion, start: BasinStart) -> SnowMapping | None:
    return start.snow if loaded.ensemble.conserving and not isinstance(start.snow, Absent) else None


@dataclass(frozen=True, slots=True)
class _ChangedWater:
    """The initial state of the days ahead.

    The state of T0, or as a what-if run changes it.

    Attributes:
        booked: mm that each member gained or lost, by ledger term, (M,) each.
    """

    archived: State
    state: State
    booked: Mapping[str, npt.NDArray[np.float64]]


def _changed_water(loaded: LoadedVersion, start: BasinStart) -> _ChangedWater | Absent:
    """Return the initial state of the days ahead, or why it cannot be changed as requested."""
    archived, increment = start.advanced.state, start.changes.increment
    assert archived is not None
    state, booked = archived, {}
    if start.assimilated is not None:
        if isinstance(start.assimilated, Absent):
            return start.assimilated
        state = start.assimilated
        booked[ASSIMILATION] = _stored(state) - _stored(archived)
    if increment is not None:
        with_more = with_increment(loaded, state, start.snow, increment)
        if isinstance(with_more, Absent):
            return with_more
        state = with_more
        booked[INCREMENT] = np.full(len(loaded.labels), increment.mm)
    return _ChangedWater(archived, state, booked)


def _stored(state: State) -> npt.NDArray[np.float64]:
    """Return the storage of each member, (M,) in mm."""
    stored: npt.NDArray[np.float64] = np.asarray(state.arrays["c"]).sum(axis=-1, dtype=np.float64)
    return stored


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of one basin, from the members' output (M members, R traces, D days).

    Attributes:
        by_age: the discharge by the age of its water, (M, R, D, ages) in mm/day; None where it is not computed.
    """

    loaded: LoadedVersion
    start: BasinStart
    at_t0: _ChangedWater
    days: RunDays
    flow: FlowResult
    by_age: Array | None

    def build(self) -> runs.BasinResult:
        """Build the complete result."""
        if not self.flow.finite:
            return without_forecast(self.start.basin.id, "failed", absent(Reason.NOT_FINITE))
        water, series, ledgers, reason = self.flow.water, [*self._discharge_series()], list[runs.Ledger](), None
        if water is not None:
            closed = self._closed(water)
            series += [*self._water_series(water), self._origin_series(water), *self._age_series()]
            if self.start.weather.traces is not None:
                series.append(self._ledger_series(closed))
            ledgers = self._ledgers(closed)
            reason = self._why_open(ledgers) or self._why_negative(water)
        return runs.BasinResult(basin=self._run_basin(reason), series=series, ledgers=ledgers)

    @property
    def _rain(self) -> Array:
        """Precipitation by trace, (R, D)."""
        return self.start.weather.forcing.mass

    @property
    def _leads(self) -> list[int]:
        return list(range(1, self.days.horizon + 1))

    def _of_both(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Merge the axes of members and traces of values (M, R, ...)."""
        return values.reshape(-1, *values.shape[2:])

    def _discharge_series(self) -> Iterator[runs.RunSeries]:
        discharge, leads, traces = self.flow.discharge, self._leads, self.start.weather.traces
        quantiles = np.quantile(self._of_both(discharge), runs.QUANTILES, axis=0).astype(np.float32)
        members = {"member": self.loaded.labels}
        if traces is None:
            yield runs.RunSeries("discharge", "mm/day", {**members, "lead": leads}, discharge[:, 0])
            yield runs.RunSeries("precipitation", "mm/day", {"lead": leads}, self._rain[0])
        else:
            axes = {"trace": traces, "lead": leads}
            yield runs.RunSeries("discharge", "mm/day", {**members, **axes}, discharge)
            yield runs.RunSeries("precipitation", "mm/day", axes, self._rain)
        yield runs.RunSeries("discharge_quantiles", "mm/day", {"level": runs.QUANTILES, "lead": leads}, quantiles)
        if self.start.variance is not None:
            axes_of_sources = {"source": SPREAD_SOURCES, "lead": leads}
            yield runs.RunSeries(runs.VARIANCE, "mm2/day2", axes_of_sources, self.start.variance.astype(np.float32))
        if not isinstance(normal := self.start.normal, Absent):
            yield runs.RunSeries(runs.NORMAL, "mm/day", {"lead": leads}, normal.astype(np.float32))
        if isinstance(calibration := self.start.calibration, Calibration):
            flow = calibration.of(discharge.mean(axis=0, dtype=np.float64))
            yield runs.RunSeries(runs.CALIBRATED, "mm/day", {"level": LEVELS, "lead": leads}, flow.quantiles)
            labels = list(range(len(flow.paths)))
            yield runs.RunSeries(runs.PATHS, "mm/day", {"path": labels, "lead": leads}, flow.paths)

    def _water_series(self, water: StorageResult) -> Iterator[runs.RunSeries]:
        """Yield loss, storage and snow, and the spread of snow.

        Of each member without traces; with traces, the members' mean of each trace."""
        cells = np.asarray(self.at_t0.state.arrays["c"])
        traces, labels = self.start.weather.traces, self.loaded.labels
        arrays = {"loss": water.loss, "storage": water.storage} | ({} if water.snow is None else {"snow": water.snow})
        for name, values in arrays.items():
            unit = "mm/day" if name == "loss" else "mm"
            if traces is None:
                yield runs.RunSeries(name, unit, {"member": labels, "lead": self._leads}, values[:, 0])
            else:
                mean = values.mean(axis=0, dtype=np.float64).astype(np.float32)
                yield runs.RunSeries(name, unit, {"trace": traces, "lead": self._leads}, mean)
        if water.snow is not None:
            spread = np.quantile(self._of_both(water.snow), runs.SPREAD_LEVELS, axis=0).astype(np.float32)
            axes = {"level": runs.SPREAD_LEVELS, "lead": self._leads}
            yield runs.RunSeries(runs.SNOW_SPREAD, "mm", axes, spread)
        yield runs.RunSeries("cells_at_t0", "mm", {"member": labels, "cell": list(range(cells.shape[-1]))}, cells)

    def _origin_series(self, water: StorageResult) -> runs.RunSeries:
        """Return the discharge by the origin of its water at T0.

        Mean, 5 and 95 % over members and traces."""
        snow, other, later = (self._of_both(part) for part in np.moveaxis(water.discharge_by_origin, -1, 0))
        parts = {"stored": snow + other, "yet_to_fall": later}
        if water.snow is not None:
            parts |= {"snow": snow, "other": other}
        return self._parts_series(runs.ORIGIN, "origin", list(parts), np.stack(list(parts.values())))

    def _age_series(self) -> Iterator[runs.RunSeries]:
        """Yield the discharge by the age of its water, where it is computed."""
        if self.by_age is not None:
            parts = np.moveaxis(self.by_age, -1, 0)
            of_both = parts.reshape(len(parts), -1, parts.shape[-1])
            yield self._parts_series(runs.AGE, "age", Ages(self.days.t0).names, of_both)

    def _parts_series(self, name: str, axis: str, parts: Sequence[str], values: Array) -> runs.RunSeries:
        """Return the mean, 5 and 95 % of parts of the discharge (parts, members and traces, leads)."""
        low, high = np.quantile(values, runs.SPREAD_LEVELS, axis=1)
        shown = np.stack([values.mean(axis=1, dtype=np.float64), low, high], axis=1).astype(np.float32)
        axes = {axis: parts, "statistic": runs.PART_STATISTICS, "lead": self._leads}
        return runs.RunSeries(name, "mm/day", axes, shown)

    def _closed(self, water: StorageResult) -> Ledgers:
        """Return the ledgers of all members and traces over the days ahead."""
        rain = np.broadcast_to(self._rain, water.loss.shape)
        before = np.repeat(self._stored_at_t0[:, np.newaxis], rain.shape[1], axis=1)
        flows_and_stores: list[npt.NDArray[Any]] = [rain, self.flow.discharge, water.loss, before, water.at_end]
        booked = {name: np.repeat(amounts, rain.shape[1]) for name, amounts in self.at_t0.booked.items()}
        return close_together(*map(self._of_both, flows_and_stores), dtype=np.float32, booked=booked)

    @property
    def _stored_at_t0(self) -> npt.NDArray[np.float64]:
        """The storage of each member at T0, (M,), before any increment is booked."""
        return _stored(self.at_t0.archived)

    def _flow_at_t0(self) -> float | None:
        flow = self.at_t0.state.recent_flow
        return None if flow is None or not len(flow) or np.isnan(flow[-1]) else float(flow[-1])

    def _snow_at_t0(self, chosen: SnowMapping) -> Normal:
        """Return the snow at T0 by member, mm."""
        cells = np.asarray(self.at_t0.state.arrays["c"])
        of_members = zip(self.loaded.labels, cells, strict=True)
        return np.array([held[list(chosen.cells[label])].sum(dtype=np.float64) for label, held in of_members])

    def _snow(self) -> RunSnow | Absent:
        """Return the snow of T0."""
        chosen = self.start.snow
        if self.flow.water is None:
            return absent(Reason.NO_WATER_IN_CELLS)
        if isinstance(chosen, Absent):
            return chosen
        of_members = self._snow_at_t0(chosen)
        low, high = np.quantile(of_members, runs.SPREAD_LEVELS).tolist()
        return RunSnow(
            mapping=chosen.kind,
            mean_mm=float(of_members.mean()),
            p05_mm=low,
            p95_mm=high,
            normal_mm=self.start.snow_normal,
            skill=chosen.skill,
            snow17_mm=self.start.snow17,
            regional_because=chosen.because,
        )

    def _ledger_series(self, closed: Ledgers) -> runs.RunSeries:
        entries = [*closed.amounts.T, closed.residual_mm, closed.tolerance * closed.scale_mm]
        of_entry = (*closed.terms, *runs.CLOSURE)
        axes = {"entry": of_entry, "member": self.loaded.labels, "trace": self.start.weather.traces or ()}
        values = np.stack(entries).astype(np.float32).reshape([len(labels) for labels in axes.values()])
        return runs.RunSeries(runs.LEDGER, "mm", axes, values)

    def _ledgers(self, closed: Ledgers) -> list[runs.Ledger]:
        """Return each member's ledger, of the trace that closes worst, with its residual since the empty store."""
        labels, traces = self.loaded.labels, self.start.weather.traces
        worst = closed.relative.reshape(len(labels), -1).argmax(axis=1)
        sums = self.at_t0.archived.sums
        assert sums is not None  # where there are ledgers, the network conserves mass
        since_empty = _since_empty(sums, self._stored_at_t0)
        ledgers = []
        for member, (label, trace) in enumerate(zip(labels, worst.tolist(), strict=True)):
            ledger = closed.of(member * len(self._rain) + trace)
            ledgers.append(
                runs.Ledger(
                    member=label,
                    terms={term.name: term.amount_mm for term in ledger.terms},
                    residual_mm=ledger.residual_mm,
                    tolerance_mm=ledger.tolerance * ledger.scale_mm,
                    since_empty=since_empty[member],
                    trace=None if traces is None else traces[trace],
                )
            )
        return ledgers

    def _why_open(self, ledgers: list[runs.Ledger]) -> Absent | None:
        """Name the members with an open ledger; None where all close."""
        names = [_name(ledger.member, ledger.trace) for ledger in ledgers if not ledger.closes]
        return absent(Reason.LEDGER_OPEN, members=", ".join(names)) if names else None

    def _why_negative(self, water: StorageResult) -> Absent | None:
        """Name the member with negative water; None where there is none."""
        discharge, loss, lowest = (self._of_both(part) for part in (self.flow.discharge, water.loss, water.lowest))
        for row, fault in negative_water(discharge, loss, lowest).items():
            member, trace = divmod(row, len(self._rain))
            traces = self.start.weather.traces
            name = _name(self.loaded.labels[member], None if traces is None else traces[trace])
            return absent(Reason.LEDGER_WRONG, member=name, fault=fault)
        return None

    def _run_basin(self, reason: Absent | None) -> runs.RunBasin:
        start, state, parent = self.start, self.at_t0.archived, self.start.advanced.parent
        first = parent.day + ONE_DAY if parent else start.forcing.period.first
        area = area_by(start.basin.areas, self.loaded.version.area_products)
        return runs.RunBasin(
            basin_id=start.basin.id,
            status="withheld" if reason else "issued",
            reason=reason,
            parent_day=parent.day if parent else None,
            parent_hash=parent.sha256 if parent else None,
            state_hash=state.sha256,
            inputs_hash=inputs_hash(start.forcing, start.weather, start.bridges, self.days, first, start.changes),
            area_m2=None if area is None else area.m2,
            area_name=None if area is None else area.name,
            summary=self._summary(),
            spin_up_days=state.spin_up_days,
        )

    def _summary(self) -> RunSummary:
        start, traces = self.start, self.start.weather.traces
        median = np.median(self._of_both(self.flow.discharge), axis=0)
        names, static = self.loaded.config.inputs.static, start.forcing.forcing.static[0]
        learnt = learnt_from(self.loaded.version, start.basin.id, names, static, start.forcing.assumed)
        last_of_record = self.days.ahead.last if start.weather.of_record else self.days.t0
        normal, calibration, cells = start.normal, start.calibration, start.cells_by_age
        return RunSummary(
            traces=None if traces is None else len(traces),
            flow_at_t0_mm=self._flow_at_t0(),
            discharge_mm=float(median.sum()),
            normal_mm=normal if isinstance(normal, Absent) else float(normal.sum()),
            peak_mm_per_day=float(median.max()),
            peak_lead=int(median.argmax()) + 1,
            storage_mm=None if self.flow.water is None else float(_stored(self.at_t0.state).mean()),
            snow=self._snow(),
            filled_forcing=start.forcing.filled_until(last_of_record),
            skipped_days=start.forcing.skipped_until(last_of_record),
            calibration=calibration if isinstance(calibration, Absent) else calibration.summary,
            age_reason=cells if isinstance(cells, Absent) else None,
            bridges=start.bridges,
            seen_in_training=learnt.seen_in_training,
            outside_training=learnt.outside_training,
            trained_on=learnt.trained_on,
            training_note=learnt.training_note,
            attributes_assumed=learnt.attributes_assumed,
            product_credit=start.credit,
        )


def _name(member: str, trace: str | None) -> str:
    return member if trace is None else f"{member} with trace {trace}"


def _since_empty(sums: Sums, storage: npt.NDArray[np.float64]) -> list[SinceEmpty]:
    return [
        SinceEmpty(residual_mm=ledger.residual_mm, precipitation_mm=ledger.scale_mm)
        for ledger in close_since_empty(sums, storage)
    ]
