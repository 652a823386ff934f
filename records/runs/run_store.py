"""Stores a run atomically after checking it, and notes each basin's newest run."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Table, tuple_
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.weather.forcing_kinds import KINDS
from records.database.stored import add_all, as_values, insert_into
from records.runs import runs
from records.runs.run_arrays import (
    LEDGER,
    Content,
    Ledger,
    owner_of,
    owner_of_members,
    packed,
    packed_members,
    without_members,
)
from records.runs.run_types import CLOSURE, BasinResult, NewRun, Run, RunBasin, ledger_entry
from records.runs.shared_cells import without_cells
from records.runs.tables import NEWEST_RUNS, RUN_CONTENTS, RUN_MEMBERS

TRIED, LATEST = "tried", "latest"
ORDER = ("t0", "issued_at", "run_id")
"""The newest T0, then the newest issue."""
BLOCK = 64
"""Number of basins that are packed, then stored: PostgreSQL ends a transaction that pauses for long."""


def _note_newest(session: Session, run: NewRun, basins: Sequence[RunBasin]) -> None:
    if run.purpose != "operational":
        return
    names = ("version_id", "t0", "issued_at", "available_at")
    owned = {"run_id": run.id} | {name: getattr(run, name) for name in names}
    rows = [
        owned | {"basin_id": basin.basin_id, "which": which}
        for basin in sorted(basins, key=lambda basin: basin.basin_id)  # in one order, so that two runs cannot deadlock
        for which in ((TRIED, LATEST) if basin.status == "issued" and not basin.is_spinning_up else (TRIED,))
    ]
    if not rows:
        return
    insert = insert_into(session, NEWEST_RUNS)
    newer = tuple_(*(insert.excluded[name] for name in ORDER)) > tuple_(*(NEWEST_RUNS.c[name] for name in ORDER))
    changed = {name: insert.excluded[name] for name in (*ORDER, "available_at")}
    key = ["version_id", "basin_id", "which"]
    session.execute(insert.on_conflict_do_update(index_elements=key, set_=changed, where=newer), rows)


def store(session: Session, new: NewRun, results: Sequence[BasinResult]) -> Run:
    """Store a run with all its content, or nothing.

    Its status follows from its basins'. Refused are an issued basin whose ledger does not close, arrays that do not fit
    their axes or come twice, no issue without a reason, a weather forecast without its name, and hypothetical weather
    or changes outside a what-if run.
    """
    if KINDS[new.forcing_kind].of_forecast != (new.weather is not None):
        raise InvalidInput("A run has to name its weather forecast if its forcing is supplied, and only then.")
    imagined = KINDS[new.forcing_kind].hypothetical or new.what_if is not None
    if imagined and new.purpose != "what-if":
        raise InvalidInput(f"A run with {new.forcing_kind} weather can only be a what-if run.")
    for result in results:
        _check(result)
    status, reason = _outcome(new, [result.basin for result in results])
    owned = {"run_id": new.id}
    with session.begin_nested():
        add_all(session, Run, [as_values(new) | {"status": status, "reason": reason}])
        of_basins = [owned | as_values(result.basin, "pruned") | _closure(result.ledgers) for result in results]
        add_all(session, RunBasin, of_basins)
        for first in range(0, len(results), BLOCK):
            for table, contents in _contents(session, new, results[first : first + BLOCK]).items():
                add_all(session, table, [owned | content for content in contents])
        _note_newest(session, new, [result.basin for result in results])
    return runs.get(session, new.id)


def _check(result: BasinResult) -> None:
    basin = result.basin
    open_ledgers = [ledger.member for ledger in result.ledgers if not ledger.closes]
    if basin.status == "issued" and open_ledgers:
        raise InvalidInput(
            f"The ledger of {basin.basin_id} does not close for member {', '.join(open_ledgers)}: withhold the basin."
        )
    names = [series.variable for series in result.series]
    if len(set(names)) < len(names):
        raise InvalidInput(f"An array of {basin.basin_id} is given twice: {', '.join(sorted(names))}.")
    for series in result.series:
        if basin.status == "issued" and series.variable == LEDGER:
            residual, tolerance = (ledger_entry(series, entry) for entry in CLOSURE)
            if not (np.abs(residual) <= tolerance).all():
                raise InvalidInput(f"A ledger of {basin.basin_id} does not close for every trace: withhold the basin.")
        expected = tuple(len(labels) for labels in series.axes.values())
        if series.values.shape != expected:
            raise InvalidInput(
                f"{series.variable} of {basin.basin_id} has the shape {series.values.shape}, but its axes "
                f"({', '.join(series.axes)}) have the lengths {expected}."
            )


def _outcome(new: NewRun, basins: Sequence[RunBasin]) -> tuple[str, Absent | None]:
    lacking = [basin for basin in basins if basin.status != "issued"]
    if basins and not lacking:
        return "issued", None
    if not basins and new.reason is None:
        raise InvalidInput("A run without basins has failed: give its reason.")
    reason = new.reason or absent(Reason.BASINS_NOT_ISSUED, lacking=len(lacking), basins=len(basins))
    return ("partial" if len(lacking) < len(basins) else "failed"), reason


def _contents(
    session: Session, new: NewRun, results: Sequence[BasinResult]
) -> dict[Table, list[dict[str, str | bytes]]]:
    hashes = {result.basin.basin_id: result.basin.state_hash for result in results}
    series = {result.basin.basin_id: result.series for result in results if result.series}
    series = without_cells(session, new.version_id, new.t0, series, hashes)
    rows: dict[Table, list[dict[str, str | bytes]]] = {RUN_CONTENTS: [], RUN_MEMBERS: []}
    for result in results:
        basin = result.basin.basin_id
        if basin not in series and not result.ledgers:
            continue
        arrays = {one.variable: one for one in series.get(basin, ())}
        retained = without_members(Content(arrays, result.ledgers))
        content = packed(owner_of(new.id, basin), retained.series.values(), retained.ledgers)
        rows[RUN_CONTENTS].append({"basin_id": basin, "content": content})
        members = packed_members(owner_of_members(new.id, basin), arrays.values())
        if members is not None:
            rows[RUN_MEMBERS].append({"basin_id": basin, "content": members})
    return rows


def _closure(ledgers: Sequence[Ledger]) -> dict[str, float | bool | None]:
    if not ledgers:
        return {"residual_mm": None, "tolerance_mm": None, "closes": None}
    worst = max(ledgers, key=lambda ledger: abs(ledger.residual_mm) - ledger.tolerance_mm)
    return {"residual_mm": worst.residual_mm, "tolerance_mm": worst.tolerance_mm, "closes": worst.closes}
