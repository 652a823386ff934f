"""Forecasts from the records to their answers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.conditional import entity_tag
from app.forecasts.balance import water_balance
from app.forecasts.schemas import Area, Columns, Forecast, ParentState, Provenance, Storage, Superseded, Units
from hydrology import units as convert
from hydrology.calendar import as_date
from hydrology.errors import InvalidInput
from records import latest as latest_records
from records import runs, versions
from records.latest import Latest, NoForecast

Array = npt.NDArray[np.float64]

FORCING_NOTES: Mapping[runs.ForcingKind, str] = {
    "observed": "A hindcast: driven by the weather observed after T0, which nobody could have known at T0.",
    "supplied": "Driven by a weather forecast for the days after T0.",
    "climatology": "Driven by the weather of other years for the days after T0.",
}
NOT_CONSERVING = "The model version does not conserve mass, so it keeps no account of water."


class NoArea(InvalidInput):
    """The run names no drainage area, so its depths cannot be told as flows."""

    kind = "no-area"


@dataclass(frozen=True, slots=True)
class Representation:
    """How a forecast is to be told: the unit of discharge, and whether with all members."""

    units: Units
    members: bool


def latest(session: Session, basin: str, at: datetime) -> Latest:
    """Return the latest forecast of a basin.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
        NoForecast: there is none; the sentence says how to make one.
    """
    try:
        return latest_records.latest(session, basin, at)
    except NoForecast as error:
        raise NoForecast(f"{error} To make one: freshet forecast --basin {basin}.") from None


def of_run(session: Session, run: str, basin: str) -> Latest:
    """Return what a given run says of a basin.

    Raises:
        UnknownRun: there is no such run, or it says nothing of that basin.
    """
    return Latest(runs.get(session, run), runs.basin_of(session, run, basin), None)


def tag_of(found: Latest, how: Representation) -> str:
    """Return the entity tag: a run never changes, so its id and what is told of it say everything."""
    newer = found.superseded_by and found.superseded_by.run_id
    return entity_tag(metadata.version("freshet"), found.run.id, found.basin.basin_id, newer, asdict(how))


def tell(session: Session, found: Latest, how: Representation) -> Forecast:
    """Return the answer.

    Raises:
        NoArea: the run names no area, and flows are asked for.
    """
    return Forecast(**_header(found), **_body(session, found, how))


def _header(found: Latest) -> dict[str, Any]:
    run, basin, newer = found.run, found.basin, found.superseded_by
    return {
        "basin": basin.basin_id,
        "basin_kind": kind_of(basin.basin_id),
        "run": run.id,
        "version": run.version_id,
        "purpose": run.purpose,
        "status": basin.status,
        "reason": basin.reason,
        "superseded_by": newer and Superseded(run=newer.run_id, status=newer.status, reason=newer.reason),
        "t0": as_date(run.t0),
        "issued_at": run.issued_at,
        "available_at": run.available_at,
        "horizon_days": run.horizon_days,
        "product": run.product,
        "forcing_kind": run.forcing_kind,
        "forcing_note": FORCING_NOTES[run.forcing_kind],
        "filled_forcing": basin.summary.get("filled_forcing", {}),
        "area": _area(basin),
        "provenance": _provenance(run, basin),
    }


def _body(session: Session, found: Latest, how: Representation) -> dict[str, Any]:
    run, basin = found.run, found.basin
    issued = basin.status == "issued"
    series = runs.series_of(session, run.id, basin.basin_id) if issued else {}
    conserving = versions.get(session, run.version_id).conserving
    leads = range(1, run.horizon_days + 1)
    body: dict[str, Any] = {
        "time": [as_date(run.t0 + np.timedelta64(lead, "D")) for lead in leads],
        "lead_days": list(leads),
        "units": _units(how),
        "discharge": _quantiles(series, basin, how) if issued else None,
        "storage": _storage(series),
        "precipitation": _column(series["precipitation"].values) if issued else None,
        "loss": _mean(series["loss"]) if "loss" in series else None,
        "water_balance": water_balance(runs.ledger_of(session, run.id, basin.basin_id)),
    }
    if how.members and issued:
        flows = series["discharge"]
        body["members"] = _by_label(flows, _discharge(flows.values, basin, how.units))
        if "cells_at_t0" in series:
            body["cells_at_t0"] = _by_label(series["cells_at_t0"], series["cells_at_t0"].values)
    return body | {"missing": _missing(body, basin, conserving)}


def _missing(body: Mapping[str, Any], basin: runs.RunBasin, conserving: bool) -> dict[str, str]:
    why = basin.reason or ("The run did not keep it." if conserving else NOT_CONSERVING)
    missing = {name: why for name, value in body.items() if value is None}
    if body["storage"] is not None and body["storage"].snow is None:
        missing["storage.snow"] = basin.summary.get("snow_reason") or "No snow cells were chosen for this basin."
    if basin.area_m2 is None:
        missing["area"] = "The basin had no drainage area of the weather product when the run was made."
    if basin.parent_day is None:
        missing["provenance.parent_state"] = basin.reason or "The run began from an empty store."
    for name in ("state_hash", "inputs_hash"):
        if getattr(basin, name) is None:
            missing[f"provenance.{name}"] = basin.reason or "The run did not keep it."
    return missing


def _units(how: Representation) -> dict[str, str]:
    units = {"discharge": how.units, "storage": "mm", "precipitation": "mm/day", "loss": "mm/day"}
    return units | {"water_balance": "mm"} | ({"members": how.units, "cells_at_t0": "mm"} if how.members else {})


def _quantiles(series: Mapping[str, runs.RunSeries], basin: runs.RunBasin, how: Representation) -> Columns:
    kept = series["discharge_quantiles"]
    names = ["median" if level == 0.5 else f"p{round(100 * level):02}" for level in kept.axes["level"]]
    rows = _discharge(kept.values, basin, how.units)
    return {name: _column(row) for name, row in zip(names, rows, strict=True)}


def _discharge(depth: npt.NDArray[Any], basin: runs.RunBasin, units: Units) -> Array:
    """Return discharge, stored in mm/day, in a unit."""
    if units == "mm/day":
        return np.asarray(depth, dtype=np.float64)
    if basin.area_m2 is None or basin.area_name is None:
        raise NoArea(f"The run names no drainage area of {basin.basin_id}: ask for units=mm/day.")
    area = convert.Area(basin.area_name, basin.area_m2)
    to_flow = convert.mm_per_day_to_m3s if units == "m3/s" else convert.mm_per_day_to_cfs
    return to_flow(depth, area=area)


def _storage(series: Mapping[str, runs.RunSeries]) -> Storage | None:
    if "storage" not in series:
        return None
    return Storage(total=_mean(series["storage"]), snow=_mean(series["snow"]) if "snow" in series else None)


def _mean(kept: runs.RunSeries) -> list[float]:
    return _column(kept.values.mean(axis=0, dtype=np.float64))


def _by_label(kept: runs.RunSeries, values: npt.NDArray[Any]) -> Columns:
    return {str(label): _column(row) for label, row in zip(kept.axes["member"], values, strict=True)}


def _column(values: npt.NDArray[Any]) -> list[float]:
    """Return values with 7 significant digits, the precision of the float32 that they were computed in."""
    return [float(f"{value:.7g}") for value in values.tolist()]


def _area(basin: runs.RunBasin) -> Area | None:
    if basin.area_m2 is None or basin.area_name is None:
        return None
    return Area(name=basin.area_name, km2=basin.area_m2 / 1e6)


def _provenance(run: runs.Run, basin: runs.RunBasin) -> Provenance:
    parent = None
    if basin.parent_day is not None and basin.parent_hash is not None:
        parent = ParentState(day=as_date(basin.parent_day), hash=basin.parent_hash)
    return Provenance(
        weights_hash=run.weights_hash,
        code_version=run.code_version,
        parent_state=parent,
        state_hash=basin.state_hash,
        inputs_hash=basin.inputs_hash,
        created_at=run.created_at,
    )
