"""Builds the answer about the change of a forecast since the previous one, from the parts that its run stores."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.forecasts.changes.schemas import ChangeByCause, ChangeOfRun, PreviousRun, Rain
from app.forecasts.changes.split import Split
from app.forecasts.changes.words import change_in_words
from app.forecasts.discharge import in_units
from app.forecasts.header import days_ahead, header, missing_in_header
from app.http.base_schema import Absences
from hydrology.attribution.forecast_change import PARTS, interaction
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import as_date, day
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from records.forecasts.latest import Latest
from records.runs import run_arrays, runs
from records.runs.run_summary import RunChange

Array = npt.NDArray[np.float64]
_MEDIAN = 0.5
_FIELDS = ("previous", "change_of", "before", "after", "change", "parts", "interaction", "precipitation", "in_words")


def change_of(session: Session, latest: Latest, at: datetime | None, units: Units) -> ChangeOfRun:
    """Return the change of a run since the previous one; `at` is the clock's time for a latest answer.

    Raises:
        NoArea: the run names no area, and flows are requested.
    """
    run, basin = latest.run, latest.basin
    split, absences = _split(session, latest, units), Absences()
    columns = days_ahead(run)
    if isinstance(split, Absent):
        fields: dict[str, Any] = {name: absences.present(name, split) for name in _FIELDS}
    else:
        count = len(split.after)
        columns = {"time": columns["time"][:count], "lead_days": columns["lead_days"][:count]}
        fields = _fields(split, absences) | {"in_words": change_in_words(split, columns["time"], units)}
    return ChangeOfRun(
        **header(latest, at),
        **columns,
        units={**dict.fromkeys(("before", "after", "change", "parts", "interaction"), units), "precipitation": "mm"},
        **fields,
        missing=texts(missing_in_header(basin)) | absences.texts,
    )


def _split(session: Session, latest: Latest, units: Units) -> Split | Absent:
    run, basin = latest.run, latest.basin
    found = basin.summary.change
    if run.purpose != "operational":
        return absent(Reason.CHANGE_NOT_OPERATIONAL)
    if not isinstance(found, RunChange):
        return basin.why(found)
    wanted = ("discharge", run_arrays.MEAN_OF_MEMBERS, run_arrays.CALIBRATED, run_arrays.CHANGES)
    series = runs.series_of(session, run.id, basin.basin_id, wanted)
    parts = series[run_arrays.CHANGES].values
    after = _flow(series, calibrated=found.without_flow is None)[: parts.shape[-1]]
    return Split(found, in_units(after, basin, units), in_units(parts, basin, units))


def _flow(series: Mapping[str, run_arrays.RunSeries], *, calibrated: bool) -> Array:
    if not calibrated:
        return run_arrays.mean_of_members(series)
    quantiles = series[run_arrays.CALIBRATED]
    return np.asarray(quantiles.values[list(quantiles.axes["level"]).index(_MEDIAN)], dtype=np.float64)


def _fields(split: Split, absences: Absences) -> dict[str, Any]:
    found = split.found
    combined: ChangeByCause | Absent = found.without_reverse or _by_cause(interaction(split.parts))
    if found.without_flow is not None:
        absences.present("parts.observed_flow", found.without_flow)
        absences.present("interaction.observed_flow", found.without_flow)
    return {
        "previous": PreviousRun(run=found.run, version=found.version, t0=as_date(day(found.t0))),
        "change_of": "calibrated median" if found.without_flow is None else "mean of the members",
        "before": (split.after - split.change).tolist(),
        "after": split.after.tolist(),
        "change": split.change.tolist(),
        "parts": _by_cause(split.parts[0]),
        "interaction": absences.present("interaction", combined),
        "precipitation": Rain(
            observed=found.observed_mm,
            expected=found.expected_mm,
            ahead=found.ahead_mm,
            ahead_before=found.ahead_before_mm,
        ),
    }


def _by_cause(parts: Array) -> ChangeByCause:
    """Return parts (parts, days) by cause, unrounded so that they add up; null where they are unknown."""
    columns = {name: row.tolist() if np.isfinite(row).all() else None for name, row in zip(PARTS, parts, strict=True)}
    return ChangeByCause(**columns)
