"""A run's row of a basin: its provenance, and its summary in a few values."""

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from operations.basin_data.basins import area_by
from operations.forecasting.basin.inputs import Computed, Normal, flattened, stored
from operations.forecasting.inputs_hash import inputs_hash
from operations.states.advance_states import ONE_DAY
from operations.versions.training_domain import learnt_from
from records.database.statements import as_values
from records.runs import runs
from records.runs.run_summary import RunSnow, RunSummary
from records.simulations.snow_cells import SnowMapping


def run_basin(computed: Computed, reason: Absent | None) -> runs.RunBasin:
    """Return the row of a basin.

    Args:
        reason: why it is withheld; None if it is issued.
    """
    inputs, state, parent = computed.inputs, computed.at_t0.archived, computed.inputs.advanced.parent
    first = parent.day + ONE_DAY if parent else inputs.forcing.period.first
    area = area_by(inputs.basin.areas, computed.loaded.version.area_products)
    return runs.RunBasin(
        basin_id=inputs.basin.id,
        status="withheld" if reason else "issued",
        reason=reason,
        parent_day=parent.day if parent else None,
        parent_hash=parent.sha256 if parent else None,
        state_hash=state.sha256,
        inputs_hash=inputs_hash(
            forcing=inputs.forcing,
            weather=inputs.weather,
            bridges=inputs.bridges,
            days=computed.days,
            first=first,
            changes=inputs.changes,
        ),
        area_m2=None if area is None else area.m2,
        area_name=None if area is None else area.name,
        summary=_summary(computed),
        spin_up_days=state.spin_up_days,
    )


def _summary(computed: Computed) -> RunSummary:
    inputs, traces = computed.inputs, computed.traces
    past = computed.days.filled
    median = np.median(flattened(computed.flow.discharge), axis=0)[past:]
    names, static = computed.loaded.config.inputs.static, inputs.forcing.forcing.static[0]
    learnt = learnt_from(computed.loaded.version, inputs.basin.id, names, static, inputs.forcing.assumed)
    last_of_record = computed.days.ahead.last if inputs.weather.of_record else computed.days.t0
    flow = computed.flow.discharge.mean(axis=(0, 1), dtype=np.float64)
    normal, calibration, cells = inputs.normal, inputs.calibration, inputs.cells_by_age
    return RunSummary(
        traces=None if traces is None else len(traces),
        flow_at_t0_mm=_flow_at_t0(computed),
        discharge_mm=float(median.sum()),
        normal_mm=normal if isinstance(normal, Absent) else float(normal[past:].sum()),
        peak_mm_per_day=float(median.max()),
        peak_lead=past + int(median.argmax()) + 1,
        storage_mm=None if computed.flow.water is None else float(stored(computed.at_t0.state).mean()),
        snow=_snow(computed),
        filled_forcing=inputs.forcing.filled_until(last_of_record),
        skipped_days=inputs.forcing.skipped_until(last_of_record),
        calibration=calibration if isinstance(calibration, Absent) else calibration.summary(flow),
        age_reason=cells if isinstance(cells, Absent) else None,
        bridges=inputs.bridges,
        product_credit=inputs.credit,
        filled_weather=inputs.weather.filled,
        **as_values(learnt),
    )


def _flow_at_t0(computed: Computed) -> float | None:
    flow = computed.at_t0.state.recent_flow
    return None if flow is None or not len(flow) or np.isnan(flow[-1]) else float(flow[-1])


def _snow_at_t0(computed: Computed, chosen: SnowMapping) -> Normal:
    """Return the snow at T0 by member, mm."""
    cells = np.asarray(computed.at_t0.state.arrays["c"])
    of_members = zip(computed.labels, cells, strict=True)
    return np.array([held[list(chosen.cells[label])].sum(dtype=np.float64) for label, held in of_members])


def _snow(computed: Computed) -> RunSnow | Absent:
    """Return the snow of T0."""
    chosen = computed.inputs.snow
    if computed.flow.water is None:
        return absent(Reason.NO_WATER_IN_CELLS)
    if isinstance(chosen, Absent):
        return chosen
    of_members = _snow_at_t0(computed, chosen)
    low, high = np.quantile(of_members, runs.SPREAD_LEVELS).tolist()
    return RunSnow(
        mapping=chosen.kind,
        mean_mm=float(of_members.mean()),
        p05_mm=low,
        p95_mm=high,
        normal_mm=computed.inputs.snow_normal,
        skill=chosen.skill,
        snow17_mm=computed.inputs.snow17,
        regional_because=chosen.because,
    )
