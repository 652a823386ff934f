"""A run's row of a basin: its provenance with the hash of its inputs, and its summary in a few values."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.digests import fingerprint, inputs_sha256
from hydrology.base.products import credit_of_all
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by
from hydrology.climatology.normals import too_few_years
from hydrology.snow.against_normal import SnowEstimate
from hydrology.uncertainty.weighted import weighted_quantiles
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.plans import Plan
from operations.forecasting.simulated_basin import SimulatedBasin, SimulatedPart, stored
from operations.forecasting.weather_ahead import RunDays, WeatherAhead
from operations.states.advance_states import ONE_DAY
from operations.versions.learnt_days import learnt_from
from records.database.stored import as_values
from records.runs import run_types
from records.runs.run_summary import RunSnow, RunSummary, TrainingDomain
from records.runs.run_weather import RunBridge, RunPart, hash_of_parts, sources_only


def inputs_hash(
    plan: Plan, forcing: BasinForcing, weather: WeatherAhead, bridges: Sequence[RunBridge], parent: Day | None
) -> str:
    """Return the hash of a part's inputs after its parent state's day; all of them without a parent.

    Their bridges, the sources of filled weather, and changes count, too.
    """
    first = forcing.period.first if parent is None else parent + ONE_DAY
    consumed, over = _consumed(forcing, weather, plan.days, first), [bridge.sha256 for bridge in bridges]
    if weather.filled:
        over.append(fingerprint(sources_only(weather.filled)))
    if not plan.changes.nothing:
        over.append(fingerprint(plan.changes.as_json()))
    return fingerprint([consumed, *over]) if over else consumed


def _consumed(forcing: BasinForcing, weather: WeatherAhead, days: RunDays, first: Day) -> str:
    record = forcing.forcing
    if weather.of_record:
        consumed = record.over(Period(first, days.ahead.last))
        return inputs_sha256(consumed.mass, consumed.auxiliary, consumed.static)
    to_t0 = slice(*((at - record.first).astype(int) for at in (first, days.t0 + ONE_DAY)))
    arrays = record.mass[:, to_t0], record.auxiliary[:, to_t0], record.static
    return inputs_sha256(*arrays, weather.forcing.mass, weather.forcing.auxiliary)


def run_basin(computed: SimulatedBasin, reason: Absent | None) -> run_types.RunBasin:
    """Return the row of a basin; the reason is why it is withheld, None if it is issued."""
    basin, state, parent = computed.first.basin, computed.at_t0.archived, computed.first.parent
    area = area_by(basin.areas, computed.loaded.version.area_products)
    of_parents = [None if one.parent is None else one.parent.day for one in computed.parts]
    hashes = [
        inputs_hash(computed.plan, one.forcing, one.weather, one.bridges, day)
        for one, day in zip(computed.parts, of_parents, strict=True)
    ]
    return run_types.RunBasin(
        basin_id=basin.id,
        status="withheld" if reason else "issued",
        reason=reason,
        parent_day=parent.day if parent else None,
        parent_hash=parent.sha256 if parent else None,
        state_hash=state.sha256,
        inputs_hash=hash_of_parts(
            (one.part.name, of_part) for one, of_part in zip(computed.parts, hashes, strict=True)
        ),
        area_m2=None if area is None else area.m2,
        area_name=None if area is None else area.name,
        summary=_summary(computed, hashes),
        spin_up_days=state.spin_up_days,
    )


def _run_parts(computed: SimulatedBasin, hashes: Sequence[str]) -> Iterator[RunPart]:
    """Yield the parts that took part; the run's own row stands for one without a name."""
    total = sum(one.part.weight for one in computed.parts)
    for one, of_part in zip(computed.parts, hashes, strict=True) if computed.first.part.name else ():
        yield RunPart(
            name=one.part.name,
            version=one.part.version,
            product=one.part.product,
            weight=one.part.weight / total,
            parent_day=None if one.parent is None else str(one.parent.day),
            parent_hash=None if one.parent is None else one.parent.sha256,
            state_hash=one.at_t0.archived.sha256,
            inputs_hash=of_part,
            filled_weather=one.weather.filled,
        )


def _training_domain(computed: SimulatedBasin) -> TrainingDomain:
    of_parts = {one.part.name: _domain_of_part(one) for one in computed.parts}
    known = [one.outside_training for one in of_parts.values() if one.outside_training is not None]
    assumed = (name for one in of_parts.values() for name in one.attributes_assumed or ())
    return TrainingDomain(
        seen_in_training=all(one.seen_in_training for one in of_parts.values()),
        outside_training=tuple(dict.fromkeys(name for names in known for name in names)) if known else None,
        trained_on=computed.loaded.version.trained_on,
        training_note=_note({name: str(one.training_note) for name, one in of_parts.items()}),
        attributes_assumed=tuple(dict.fromkeys(assumed)),
    )


def _note(of_parts: Mapping[str, str]) -> str:
    """Return the notes of parts, each once after the names of those that it is for; a plain version has no name."""
    names = {note: ", ".join(name for name, other in of_parts.items() if other == note) for note in of_parts.values()}
    return " ".join(f"{of}: {note}" if of else note for note, of in names.items())


def _domain_of_part(one: SimulatedPart) -> TrainingDomain:
    names, static = one.loaded.config.inputs.static, one.forcing.forcing.static[0]
    return learnt_from(one.loaded.version, one.basin.id, names, static, one.forcing.assumed)


def _summary(computed: SimulatedBasin, hashes: Sequence[str]) -> RunSummary:
    first, traces, past = computed.first, computed.traces, computed.days.filled
    last_of_record = computed.days.ahead.last if first.weather.of_record else computed.days.t0
    parts, normal, calibration = computed.parts, computed.references.normal, computed.calibration
    flow = computed.at_t0.state.recent_flow
    return RunSummary(
        traces=None if traces is None else len(traces),
        flow_at_t0_mm=None if flow is None or not len(flow) or np.isnan(flow[-1]) else float(flow[-1]),
        normal_mm=normal if isinstance(normal, Absent) else float(normal[past:].sum()),
        storage_mm=None if computed.flow.water is None else float(computed.mean(stored(computed.at_t0.state))),
        snow=_snow(computed),
        filled_forcing=_filled_until(last_of_record, computed),
        skipped_days=max(one.forcing.skipped_until(last_of_record) for one in parts),
        calibration=calibration
        if isinstance(calibration, Absent)
        else calibration.summary(computed.mean_of_traces(computed.flow.discharge)),
        age_reason=next((one.cells_by_age for one in parts if isinstance(one.cells_by_age, Absent)), None),
        bridges=tuple({of.sha256: of for one in parts for of in one.bridges}.values()),
        product_credit=credit_of_all(one.credit for one in parts),
        filled_weather=first.weather.filled,
        weather_fault=first.weather_fault,
        parts=tuple(_run_parts(computed, hashes)),
        subset=computed.subset,
        **as_values(_training_domain(computed)),
    )


def _filled_until(last: Day, computed: SimulatedBasin) -> dict[str, int]:
    """Return the number of interpolated or filled values by variable; parts on one product count once."""
    by_product: dict[str, dict[str, int]] = {}
    for one in computed.parts:
        by_product.setdefault(one.part.product, {}).update(one.forcing.filled_until(last))
    names = dict.fromkeys(name for counts in by_product.values() for name in counts)
    return {name: sum(counts.get(name, 0) for counts in by_product.values()) for name in names}


def _snow(computed: SimulatedBasin) -> RunSnow | Absent:
    if computed.flow.water is None:
        return absent(Reason.NO_WATER_IN_CELLS)
    chosen, snow17 = computed.snow, computed.references.snow17
    if isinstance(chosen, Absent):
        return chosen
    cells = zip(computed.labels, np.asarray(computed.at_t0.state.arrays["c"]), strict=True)
    of_members = np.array([held[list(chosen.cells[label])].sum(dtype=np.float64) for label, held in cells])
    low, high = weighted_quantiles(of_members, run_types.SPREAD_LEVELS, computed.weights).tolist()
    of_snow17: tuple[float | Absent | None, ...] = (
        (snow17, snow17)
        if not isinstance(snow17, SnowEstimate)
        else (snow17.mm, too_few_years(1, 1) if snow17.normal_mm is None else snow17.normal_mm)
    )
    return RunSnow(
        mapping=chosen.kind,
        mean_mm=float(computed.mean(of_members)),
        p05_mm=low,
        p95_mm=high,
        normal_mm=computed.snow_normal,
        skill=chosen.skill,
        reference=computed.references.snow,
        snow17_mm=of_snow17[0],
        snow17_normal_mm=of_snow17[1],
        regional_because=chosen.because,
    )
