"""Builds the answer that compares a what-if run with its base."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.forecasts import lookup
from app.forecasts.balance import water_balance
from app.forecasts.discharge import in_units
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.what_if_runs.schemas import Flow, Side, Volume, WhatIfOfRun
from app.http.json_numbers import column, rounded
from app.http.problems import refused
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs

LOW, HIGH = (run_types.QUANTILES.index(level) for level in (0.05, 0.95))
WANTED = ("discharge", run_arrays.MEAN_OF_MEMBERS, "discharge_quantiles", run_arrays.LEDGER)
NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


def compared(session: Session, run: str | None, basin: str, units: Units, at: datetime) -> WhatIfOfRun:
    """Return a what-if run's result for a stored basin, with its base run's.

    A run without changes, and so without a base, is compared with itself.

    Args:
        run: None for the newest that is available at an instant.

    Raises:
        UnknownRun: there is no such run, or it does not include that basin.
        InvalidRequest: it is not a what-if run.
        NoArea: it names no drainage area, and flows are requested.
    """
    changed = lookup.of_run(session, run or runs.newest_changed(session, basin, at).id, basin)
    asked = changed.run.what_if
    if asked is None:
        detail = f"{run} is not a what-if run but {changed.run.purpose}: list what-if runs (/v1/runs?purpose=what-if)"
        raise refused("run", detail)
    base = changed if asked.base is None else lookup.of_run(session, asked.base, basin)
    sides = {"base": _side(session, base, units), "changed": _side(session, changed, units)}
    missing = {f"{name}{field}": why for name, side in sides.items() for field, why in side.missing.items()}
    difference = _difference(sides["base"].answer, sides["changed"].answer)
    if difference is None:
        missing["difference"] = missing.get("base") or missing["changed"]
    elif difference.volume is None:
        missing["difference.volume"] = NO_AREA
    return WhatIfOfRun(
        **header(changed, None),
        **days_ahead(changed.run),
        units={"discharge": units, "depth": "mm", "volume": "m3", "water_balance": "mm"},
        base=sides["base"].answer,
        changed=sides["changed"].answer,
        difference=difference,
        missing=texts(missing_in_header(changed.basin) | missing),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs, with reasons for null fields by `.FIELD`."""

    answer: Side | None
    missing: dict[str, Absent]


def _side(session: Session, of: Latest, units: Units) -> _Side:
    run, basin = of.run, of.basin
    if basin.status != "issued":
        return _Side(None, {"": basin.why_missing})
    series = runs.series_of(session, run.id, basin.basin_id, WANTED)
    mean = run_arrays.mean_of_members(series)
    quantiles = series["discharge_quantiles"].values
    ledgers = runs.ledger_of(session, run.id, basin.basin_id)
    balance = water_balance(ledgers, series.get(run_arrays.LEDGER), basin.spin_up_days)
    volume = _volume(float(mean.sum()), basin.area_m2)
    missing = {}
    if balance is None:
        missing[".water_balance"] = absent(Reason.NOT_CONSERVING)
    if volume.volume is None:
        missing[".volume.volume"] = NO_AREA
    rows = {"mean": mean, "p05": quantiles[LOW], "p95": quantiles[HIGH]}
    flow = Flow(**{name: column(in_units(row, basin, units)) for name, row in rows.items()})
    return _Side(Side(run=run.id, discharge=flow, volume=volume, water_balance=balance), missing)


def _volume(depth_mm: float, area_m2: float | None) -> Volume:
    return Volume(depth=rounded(depth_mm), volume=None if area_m2 is None else rounded(depth_mm / 1000 * area_m2))


def _difference(base: Side | None, changed: Side | None) -> Volume | None:
    if base is None or changed is None:
        return None
    ours, theirs = changed.volume, base.volume
    more = None if ours.volume is None or theirs.volume is None else rounded(ours.volume - theirs.volume)
    return Volume(depth=rounded(ours.depth - theirs.depth), volume=more)
