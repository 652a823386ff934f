"""Runs as forecasting stores them: two members, three days, four cells."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.uncertainty.error_model import LEVELS as ALL_LEVELS
from hydrology.water.ledger import TERMS, close
from hydrology.water.storage import Ages
from records.runs import run_arrays, run_types
from records.runs.run_arrays import SinceEmpty
from records.runs.run_summary import KnownSkill, ReferenceSnow, RunCalibration, RunSnow, RunSummary
from testing.records import BASIN, a_reason

AREA_M2 = 2_303_988_000.0
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
MEMBERS, LEADS = ["0", "1"], [1, 2, 3]
Axes = dict[str, Sequence[Any]]

PRECIPITATION = np.array([2.5, 0.0, 7.25], dtype=np.float32)
DISCHARGE = np.array([[1.5, 1.25, 2.5], [1.75, 1.5, 3.0]], dtype=np.float32)
LOSS = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], dtype=np.float32)
CELLS = np.array([[100.0, 50.0, 25.0, 0.0], [90.0, 60.0, 20.0, 5.0]], dtype=np.float32)
STORAGE = CELLS.sum(axis=1, keepdims=True) + (PRECIPITATION - DISCHARGE - LOSS).cumsum(axis=1)
SNOW = STORAGE / 2
NO_REFERENCE = "No reference snow is stored here."

SINCE_EMPTY = SinceEmpty(residual_mm=-0.004, precipitation_mm=32_000.0)
CALIBRATED = np.linspace(0.4, 6.0, len(ALL_LEVELS) * 3, dtype=np.float32).reshape(len(ALL_LEVELS), 3)
PATHS = np.random.default_rng(0).gamma(2.0, 1.5, (100, 3)).astype(np.float32)
CALIBRATION = RunCalibration(
    kind="observed",
    sha256="error model",
    weather="observed",
    weather_issues=None,
    fitted_on="1980-10-01..1989-09-30",
    own_days=3200,
    last_flow_day="2008-09-30",
    last_flow_mm=1.25,
    simulated_mm=1.5,
)
NORMAL = np.array([2.0, 1.0, 2.5], dtype=np.float32)
SNOW_SKILL = KnownSkill(
    version="v",
    products=("uaz",),
    period="1989-10-01..1999-09-30",
    basins=None,
    r=0.96,
    bias_pct=-4.5,
    bare_mm=7.25,
)
RUN_SNOW = RunSnow(
    mapping="basin",
    mean_mm=75.0,
    p05_mm=60.0,
    p95_mm=90.0,
    normal_mm=50.0,
    skill=SNOW_SKILL,
    reference=ReferenceSnow(product="uaz", mm=84.0, normal_mm=60.0),
)
SUMMARY = RunSummary(
    normal_mm=float(NORMAL.sum()),
    calibration=CALIBRATION,
    storage_mm=110.0,
    snow=RUN_SNOW,
    filled_forcing={"tmax": 2},
    seen_in_training=False,
    outside_training=("elev_mean",),
    attributes_assumed=("soil_porosity",),
    trained_on="daymet",
    training_note="The version learnt from others.",
)


def forecast(basin: str = BASIN, *, conserving: bool = True, snow: bool = True, **chosen: Any) -> run_types.BasinResult:
    """Return the result of a run in a basin: issued, its ledgers closed."""
    row = run_types.RunBasin(
        basin_id=basin,
        status="issued",
        parent_day=day("2008-09-29"),
        parent_hash="parent",
        state_hash="state",
        inputs_hash="inputs",
        area_m2=AREA_M2,
        area_name="maurer_extended",
        spin_up_days=9999,
        summary=SUMMARY if snow else replace(SUMMARY, snow=a_reason(NO_REFERENCE)),
    )
    series = _series(conserving=conserving, snow=snow and conserving)
    return run_types.BasinResult(basin=replace(row, **chosen), series=series, ledgers=ledgers() if conserving else ())


TRACES = ["1999", "2000", "2001"]


def forecast_with_traces(**chosen: Any) -> run_types.BasinResult:
    """Return a forecast whose traces are all the weather of `forecast`."""
    whole = forecast()
    by_name = {series.variable: series for series in whole.series}
    axes: Axes = {"trace": TRACES, "lead": LEADS}
    repeated: dict[str, np.ndarray[Any, Any]] = {
        "discharge": np.repeat(DISCHARGE[:, None], len(TRACES), axis=1),
        "precipitation": np.repeat(PRECIPITATION[None], len(TRACES), axis=0),
        **{name: np.repeat(by_name[name].values.mean(axis=0)[None], 3, axis=0) for name in ("loss", "storage", "snow")},
    }
    series = [
        run_arrays.RunSeries(
            name, by_name[name].unit, {"member": MEMBERS, **axes} if values.ndim == 3 else axes, values
        )
        for name, values in repeated.items()
    ]
    closed = [[*ledger.terms.values(), ledger.residual_mm, ledger.tolerance_mm] for ledger in ledgers()]
    of_all: Axes = {"entry": (*TERMS, *run_types.CLOSURE), "member": MEMBERS, "trace": TRACES}
    entries = np.repeat(np.array(closed, np.float32).T[:, :, None], len(TRACES), axis=2)
    series += [run_arrays.RunSeries(run_arrays.LEDGER, "mm", of_all, entries)]
    series += [
        by_name[name]
        for name in (
            *("discharge_quantiles", run_arrays.CALIBRATED, run_arrays.NORMAL),
            *("cells_at_t0", run_types.SNOW_SPREAD, run_types.ORIGIN),
        )
    ]
    return run_types.BasinResult(
        basin=replace(whole.basin, summary=replace(SUMMARY, traces=len(TRACES)), **chosen),
        series=series,
        ledgers=[replace(ledger, trace="2000") for ledger in whole.ledgers],
    )


def open_forecast() -> run_types.BasinResult:
    """Return a forecast that was computed and withheld, for its second member does not close."""
    first, second = ledgers()
    row = replace(forecast().basin, status="withheld", reason=absent(Reason.LEDGER_OPEN, members="1"))
    second = replace(second, residual_mm=0.5)
    return run_types.BasinResult(basin=row, series=_series(conserving=True, snow=True), ledgers=[first, second])


def ledgers() -> Sequence[run_arrays.Ledger]:
    """Return the ledger of each member."""
    rain = np.broadcast_to(PRECIPITATION, DISCHARGE.shape)
    closed = close(rain, DISCHARGE, LOSS, CELLS.sum(axis=1), STORAGE[:, -1], dtype=np.float32).each()
    return [
        run_arrays.Ledger(
            label,
            dict(one.terms),
            one.residual_mm,
            one.tolerance * one.scale_mm,
            SINCE_EMPTY,
        )
        for label, one in zip(MEMBERS, closed, strict=True)
    ]


def _series(*, conserving: bool, snow: bool) -> list[run_arrays.RunSeries]:
    axes: Axes = {"member": MEMBERS, "lead": LEADS}
    quantiles = np.quantile(DISCHARGE, LEVELS, axis=0)
    series = [
        run_arrays.RunSeries("discharge", "mm/day", axes, DISCHARGE),
        run_arrays.RunSeries("discharge_quantiles", "mm/day", {"level": LEVELS, "lead": LEADS}, quantiles),
        run_arrays.RunSeries(run_arrays.CALIBRATED, "mm/day", {"level": ALL_LEVELS, "lead": LEADS}, CALIBRATED),
        run_arrays.RunSeries(run_arrays.PATHS, "mm/day", {"path": list(range(100)), "lead": LEADS}, PATHS),
        run_arrays.RunSeries(run_arrays.NORMAL, "mm/day", {"lead": LEADS}, NORMAL),
        run_arrays.RunSeries("precipitation", "mm/day", {"lead": LEADS}, PRECIPITATION),
    ]
    if conserving:
        cells: Axes = {"member": MEMBERS, "cell": [0, 1, 2, 3]}
        series += [
            run_arrays.RunSeries("loss", "mm/day", axes, LOSS),
            run_arrays.RunSeries("storage", "mm", axes, STORAGE),
            run_arrays.RunSeries("cells_at_t0", "mm", cells, CELLS),
        ]
        series.append(_origin(snow=snow))
    if snow:
        spread = np.quantile(SNOW, run_types.SPREAD_LEVELS, axis=0).astype(np.float32)
        levels: Axes = {"level": run_types.SPREAD_LEVELS, "lead": LEADS}
        series += [
            run_arrays.RunSeries("snow", "mm", axes, SNOW),
            run_arrays.RunSeries(run_types.SNOW_SPREAD, "mm", levels, spread),
        ]
    return series


def age() -> run_arrays.RunSeries:
    """Return the mean discharge in shares of each age, the oldest first."""
    names = Ages(day("2008-09-30")).names
    flow = np.stack([DISCHARGE.mean(axis=0), *np.quantile(DISCHARGE, run_types.SPREAD_LEVELS, axis=0)])
    values = np.array([0.25, 0, 0.125, 0.125, 0.125, 0.25, 0.125])[:, None, None] * flow
    axes: Axes = {"age": names, "statistic": run_types.PART_STATISTICS, "lead": LEADS}
    return run_arrays.RunSeries(run_types.AGE, "mm/day", axes, values.astype(np.float32))


def _origin(*, snow: bool) -> run_arrays.RunSeries:
    """Return the mean discharge in shares of each known origin."""
    shares = {"stored": 0.75, "yet_to_fall": 0.25} | ({"snow": 0.5, "other": 0.25} if snow else {})
    flow = np.stack([DISCHARGE.mean(axis=0), *np.quantile(DISCHARGE, run_types.SPREAD_LEVELS, axis=0)])
    values = np.array(list(shares.values()))[:, None, None] * flow
    axes: Axes = {"origin": list(shares), "statistic": run_types.PART_STATISTICS, "lead": LEADS}
    return run_arrays.RunSeries(run_types.ORIGIN, "mm/day", axes, values.astype(np.float32))
