"""What a run says of a basin, from the records to its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.columns import column
from app.conditional import entity_tag
from app.forecasts.balance import water_balance
from app.forecasts.schemas import Area, Columns, Forecast, ParentState, Provenance, Storage, Superseded, Units
from app.staleness import age_days, stale
from hydrology import units as convert
from hydrology.calendar import Day, as_date
from hydrology.errors import InvalidInput
from records import runs, versions
from records.latest import Latest
from records.run_summary import LEARNT_FROM

Array = npt.NDArray[np.float64]

FORCING_NOTES: Mapping[runs.ForcingKind, str] = {
    "observed": "A hindcast: driven by the weather observed after T0, which nobody could have known at T0.",
    "supplied": "Driven by a weather forecast for the days after T0.",
    "climatology": "Driven by the weather of other years for the days after T0.",
}
TOLD = ("discharge_quantiles", "precipitation", "loss", "storage", "snow")  # without members
NOT_CONSERVING = "The model version does not conserve mass, so it keeps no account of water."


class NoArea(InvalidInput):
    """The run names no drainage area, so its depths cannot be told as flows."""

    kind = "no-area"


@dataclass(frozen=True, slots=True)
class Representation:
    """How a forecast is to be told.

    Attributes:
        units: of discharge.
        members: whether with all members.
        at: the clock's time, by which the age of a latest answer is told; None for a run asked by its id.
    """

    units: Units
    members: bool
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What the records keep of a run for a basin, beside its row."""

    series: Mapping[str, runs.RunSeries]
    ledgers: Sequence[runs.Ledger]
    conserving: bool


def tag_of(found: Latest, how: Representation) -> str:
    """Return the entity tag: a run never changes, so its id and what is told of it say everything."""
    return _tag(how, *identity(found, how.at))


def tag_at_a_glance(run: str, t0: Day, basin: str, how: Representation) -> str:
    """Return the entity tag of a latest forecast that no newer run could not replace."""
    return _tag(how, run, basin, None, None if how.at is None else age_days(t0, how.at))


def _tag(how: Representation, *identity: Any) -> str:
    return entity_tag(how.units, how.members, *identity)


def identity(found: Latest, at: datetime | None) -> tuple[Any, ...]:
    """Return what an answer about a run follows from, as JSON values: the age is told, so it belongs to them."""
    newer = found.superseded_by and found.superseded_by.run_id
    return found.run.id, found.basin.basin_id, newer, None if at is None else age_days(found.run.t0, at)


def kept_of(session: Session, found: Sequence[Latest], members: bool) -> list[Kept]:
    """Read what is kept of many basins, each of a run of its own, at once."""
    keys = [(one.run.id, one.basin.basin_id) for one in found]
    issued = [key for key, one in zip(keys, found, strict=True) if one.basin.status == "issued"]
    series = runs.series_of_many(session, issued, None if members else TOLD)
    ledgers = runs.ledgers_of_many(session, keys)
    conserving = versions.conserving(session, list({one.run.version_id for one in found}))
    return [
        Kept(series.get(key, {}), ledgers[key], conserving[one.run.version_id])
        for key, one in zip(keys, found, strict=True)
    ]


def tell(found: Latest, kept: Kept, how: Representation) -> Forecast:
    """Return the answer.

    Raises:
        NoArea: the run names no area, and flows are asked for.
    """
    return Forecast(
        **header(found, how.at),
        filled_forcing=dict(found.basin.summary.filled_forcing),
        skipped_days=found.basin.summary.skipped_days,
        area=_area(found.basin),
        provenance=_provenance(found.run, found.basin),
        **_body(found, kept, how),
    )


def header(found: Latest, at: datetime | None) -> dict[str, Any]:
    """Return the fields of `RunOfBasin`; its age where the clock's time is given."""
    run, basin, newer = found.run, found.basin, found.superseded_by
    said = {
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
        **{name: getattr(basin.summary, name) for name in LEARNT_FROM},
    }
    if at is None:
        return said
    age = age_days(run.t0, at)
    return said | {"age_days": age, "stale": stale(age)}


def missing_in_header(basin: runs.RunBasin) -> dict[str, str]:
    """Say why fields of `RunOfBasin` are null."""
    why = basin.reason or "The run did not keep it."
    return {name: why for name in LEARNT_FROM if getattr(basin.summary, name) is None}


def days_ahead(run: runs.Run) -> dict[str, Any]:
    """Return the columns `time` and `lead_days`."""
    leads = range(1, run.horizon_days + 1)
    return {"time": [as_date(run.t0 + np.timedelta64(lead, "D")) for lead in leads], "lead_days": list(leads)}


def _body(found: Latest, kept: Kept, how: Representation) -> dict[str, Any]:
    basin, series = found.basin, kept.series
    issued = basin.status == "issued"
    body: dict[str, Any] = {
        **days_ahead(found.run),
        "units": _units(how),
        "discharge": _quantiles(series, basin, how) if issued else None,
        "storage": storage_of(series),
        "precipitation": column(series["precipitation"].values) if issued else None,
        "loss": _mean(series["loss"]) if "loss" in series else None,
        "water_balance": water_balance(kept.ledgers),
    }
    if how.members and issued:
        flows = series["discharge"]
        body["members"] = _by_label(flows, _discharge(flows.values, basin, how.units))
        if "cells_at_t0" in series:
            body["cells_at_t0"] = _by_label(series["cells_at_t0"], series["cells_at_t0"].values)
    return body | {"missing": _missing(body, basin, kept.conserving)}


def _missing(body: Mapping[str, Any], basin: runs.RunBasin, conserving: bool) -> dict[str, str]:
    why = why_no_account(basin, conserving)
    missing = missing_in_header(basin) | {name: why for name, value in body.items() if value is None}
    if body["storage"] is not None and body["storage"].snow is None:
        missing["storage.snow"] = why_no_snow(basin)
    if basin.area_m2 is None:
        missing["area"] = "The basin had no drainage area of the weather product when the run was made."
    if basin.parent_day is None:
        missing["provenance.parent_state"] = basin.reason or "The run began from an empty store."
    for name in ("state_hash", "inputs_hash"):
        if getattr(basin, name) is None:
            missing[f"provenance.{name}"] = basin.reason or "The run did not keep it."
    return missing


def why_no_account(basin: runs.RunBasin, conserving: bool) -> str:
    """Say why a run keeps no account of a basin's water."""
    return basin.reason or ("The run did not keep it." if conserving else NOT_CONSERVING)


def why_no_snow(basin: runs.RunBasin) -> str:
    """Say why a run that tells the storage does not tell the snow."""
    return basin.summary.snow_reason or "No snow cells were chosen for this basin."


def _units(how: Representation) -> dict[str, str]:
    units = {"discharge": how.units, "storage": "mm", "precipitation": "mm/day", "loss": "mm/day"}
    return units | {"water_balance": "mm"} | ({"members": how.units, "cells_at_t0": "mm"} if how.members else {})


def _quantiles(series: Mapping[str, runs.RunSeries], basin: runs.RunBasin, how: Representation) -> Columns:
    kept = series["discharge_quantiles"]
    names = ["median" if level == 0.5 else f"p{round(100 * level):02}" for level in kept.axes["level"]]
    rows = _discharge(kept.values, basin, how.units)
    return {name: column(row) for name, row in zip(names, rows, strict=True)}


def _discharge(depth: npt.NDArray[Any], basin: runs.RunBasin, units: Units) -> Array:
    """Return discharge, stored in mm/day, in a unit."""
    if units == "mm/day":
        return np.asarray(depth, dtype=np.float64)
    if basin.area_m2 is None or basin.area_name is None:
        raise NoArea(f"The run names no drainage area of {basin.basin_id}: ask for units=mm/day.")
    area = convert.Area(basin.area_name, basin.area_m2)
    to_flow = convert.mm_per_day_to_m3s if units == "m3/s" else convert.mm_per_day_to_cfs
    return to_flow(depth, area=area)


def storage_of(series: Mapping[str, runs.RunSeries]) -> Storage | None:
    """Return the members' mean of the water in the basin; None where the run keeps none."""
    if "storage" not in series:
        return None
    return Storage(total=_mean(series["storage"]), snow=_mean(series["snow"]) if "snow" in series else None)


def _mean(kept: runs.RunSeries) -> list[float]:
    return column(kept.values.mean(axis=0, dtype=np.float64))


def _by_label(kept: runs.RunSeries, values: npt.NDArray[Any]) -> Columns:
    return {str(label): column(row) for label, row in zip(kept.axes["member"], values, strict=True)}


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
        program=run.program,
        parent_state=parent,
        state_hash=basin.state_hash,
        inputs_hash=basin.inputs_hash,
        created_at=run.created_at,
    )
