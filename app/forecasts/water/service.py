"""Builds the answers about storage, origin, age and water balance."""

from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.forecasts import service as forecasts
from app.forecasts.balance import residuals, water_balance
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.snow import missing_in_snow
from app.forecasts.water.loss import loss_beside_pet
from app.forecasts.water.normal import normal_snow, normal_total
from app.forecasts.water.past import past_water
from app.forecasts.water.schemas import (
    AgeOfRun,
    BalanceOfRun,
    FlowOfAge,
    FlowOfOrigin,
    OriginOfRun,
    StorageOfRun,
)
from app.http.json_numbers import column, rounded
from app.versions.scores import snow_skill
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import as_date
from hydrology.base.reasons import Reason
from hydrology.water.water_age import Ages
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.run_summary import NOT_STORED
from records.simulations import snow_cells
from records.versions import versions

NO_SNOW_SKILL = absent(Reason.SNOW_NOT_SCORED)


def storage(session: Session, latest: Latest, at: datetime | None) -> StorageOfRun:
    """Return the water in the basin; `at` is the clock's time for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = ("storage", "snow", run_types.SNOW_SPREAD)
    series = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    snow_skills = [snow_skill(cells) for cells in snow_cells.own_cells(session, run.version_id, [basin.basin_id])]
    stored = forecasts.storage_of(series, basin)
    missing = missing_in_header(basin) | ({} if snow_skills else {"snow_skill": NO_SNOW_SKILL})
    at_t0 = total = snow = read = other = usual_total = usual_snow = None
    if stored is None:
        reason = forecasts.why_no_account(basin, _conserving(session, latest))
        missing |= dict.fromkeys(
            ("at_t0", "total", "snow", "snow_read", "other", "normal_total", "normal_snow"), reason
        )
    else:
        at_t0, total, snow, read = stored.at_t0, stored.total, stored.snow, stored.snow_read
        if at_t0 is None:
            missing["at_t0"] = NOT_STORED
        missing |= missing_in_snow(read, basin, "snow_read")
        usual_total, reasons = normal_total(session, latest, total)
        missing |= {f"normal_total{field}": why for field, why in reasons.items()}
        if snow is None:
            missing |= dict.fromkeys(("snow", "other", "normal_snow"), forecasts.why_no_snow(basin))
        else:
            of_all, of_snow = (
                run_arrays.over_members(series[name], basin.summary.parts) for name in ("storage", "snow")
            )
            other = column(of_all - of_snow)
            usual_snow, reasons = normal_snow(session, latest, snow)
            missing |= {f"normal_snow{field}": why for field, why in reasons.items()}
    return StorageOfRun(
        **header(latest, at),
        **days_ahead(run),
        units=dict.fromkeys(("at_t0", "total", "snow", "other", "normal_total", "normal_snow"), "mm"),
        at_t0=at_t0,
        total=total,
        snow=snow,
        snow_read=read,
        other=other,
        normal_total=usual_total,
        normal_snow=usual_snow,
        snow_skill=snow_skills,
        missing=texts(missing),
    )


def storage_with_past(session: Session, latest: Latest, at: datetime | None, days: int) -> StorageOfRun:
    """Return the water in the basin, with that of a number of days up to T0; 0 leaves the past out."""
    answer = storage(session, latest, at)
    if days == 0:
        return answer
    if answer.total is None:
        return answer.model_copy(update={"past": None, "missing": answer.missing | {"past": answer.missing["total"]}})
    past = past_water(session, latest, days)
    if isinstance(past, Absent):
        return answer.model_copy(update={"past": None, "missing": answer.missing | {"past": str(past)}})
    return answer.model_copy(update={"past": past})


def origin(session: Session, latest: Latest, at: datetime | None) -> OriginOfRun:
    """Return the discharge by origin of its water; `at`: clock time for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = (run_types.ORIGIN, "cells_at_t0")
    series = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    parts = _parts(series[run_types.ORIGIN]) if run_types.ORIGIN in series else {}
    missing = missing_in_header(basin)
    ceiling = discharge = None
    if not parts:
        reason = forecasts.why_no_account(basin, _conserving(session, latest))
        missing |= dict.fromkeys(("ceiling", "discharge", "stored", "snow", "other", "yet_to_fall"), reason)
    else:
        held = series["cells_at_t0"].values.sum(axis=1, dtype=np.float64)
        weighted = basin.summary.storage_mm if basin.summary.parts else None
        ceiling = rounded(float(held.mean()) if weighted is None else weighted)
        discharge = column(np.add(parts["stored"].mean, parts["yet_to_fall"].mean))
        if "snow" not in parts:
            missing |= dict.fromkeys(("snow", "other"), forecasts.why_no_snow(basin))
    return OriginOfRun(
        **header(latest, at),
        **days_ahead(run),
        units={"ceiling": "mm"} | dict.fromkeys(("discharge", "stored", "snow", "other", "yet_to_fall"), "mm/day"),
        ceiling=ceiling,
        discharge=discharge,
        stored=parts.get("stored"),
        snow=parts.get("snow"),
        other=parts.get("other"),
        yet_to_fall=parts.get("yet_to_fall"),
        missing=texts(missing),
    )


def age(session: Session, latest: Latest, at: datetime | None) -> AgeOfRun:
    """Return the discharge by age of its water; `at`: clock time for a latest answer."""
    run, basin = latest.run, latest.basin
    series = runs.series_of(session, run.id, basin.basin_id, (run_types.AGE,)) if basin.status == "issued" else {}
    ages, missing = None, missing_in_header(basin)
    if run_types.AGE in series:
        ages = _ages(series[run_types.AGE], Ages(run.t0))
    else:
        reason = basin.why(basin.summary.age_reason)
        missing |= dict.fromkeys(("discharge", "ages"), reason)
    return AgeOfRun(
        **header(latest, at),
        **days_ahead(run),
        units=dict.fromkeys(("discharge", "ages"), "mm/day"),
        discharge=None if ages is None else column(np.sum([part.mean for part in ages], axis=0)),
        ages=ages,
        missing=texts(missing),
    )


def _ages(series: run_arrays.RunSeries, ages: Ages) -> list[FlowOfAge]:
    """Return the parts of the discharge by their age."""
    statistics = series.axes["statistic"]
    return [
        FlowOfAge(
            age=name,
            first_day=None if first is None else as_date(first),
            last_day=None if last is None else as_date(last),
            **{of: column(row) for of, row in zip(statistics, rows, strict=True)},
        )
        for name, (first, last), rows in zip(series.axes["age"], ages.ends, series.values, strict=True)
    ]


def _parts(series: run_arrays.RunSeries) -> dict[str, FlowOfOrigin]:
    """Return the parts of the discharge by their origin."""
    statistics = series.axes["statistic"]
    return {
        name: FlowOfOrigin(**{of: column(row) for of, row in zip(statistics, rows, strict=True)})
        for name, rows in zip(series.axes["origin"], series.values, strict=True)
    }


def balance(session: Session, latest: Latest, at: datetime | None) -> BalanceOfRun:
    """Return the water balance of every member; `at` is the clock's time for a latest answer."""
    days = days_ahead(latest.run)["time"]
    basin = latest.basin
    of_traces = runs.series_of(session, latest.run.id, basin.basin_id, (run_arrays.LEDGER,)).get(run_arrays.LEDGER)
    ledgers = runs.ledger_of(session, latest.run.id, basin.basin_id)
    of_members = water_balance(ledgers, of_traces, basin.spin_up_days)
    missing = missing_in_header(basin)
    if of_members is None:
        missing["water_balance"] = forecasts.why_no_account(basin, _conserving(session, latest))
    lost = None
    if _conserving(session, latest):
        lost, reasons = loss_beside_pet(session, latest.run.version_id, basin.basin_id)
        missing |= reasons
    else:
        missing["loss_beside_pet"] = absent(Reason.NOT_CONSERVING)
    answer = BalanceOfRun(
        **header(latest, at),
        units={"water_balance": "mm", "loss_beside_pet": "mm/year"},
        first_day=days[0],
        last_day=days[-1],
        water_balance=of_members,
        loss_beside_pet=lost,
        missing=texts(missing),
    )
    if of_traces is None or "trace" not in of_traces.axes:
        return answer
    return answer.model_copy(update={"residuals": residuals(of_traces)})


def _conserving(session: Session, latest: Latest) -> bool:
    return versions.conserving(session, [latest.run.version_id])[latest.run.version_id]
