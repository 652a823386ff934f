"""Stores a run's cells at T0 once, with the state that they belong to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row, Select, exists, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from records.database.array_codec import Labelled, is_whole, pack, unpack
from records.database.checksums import Corrupt, whole_arrays
from records.database.retention import ids_pruned
from records.database.stored import where_keys
from records.runs.run_arrays import Content, RunSeries, owner_of, owner_of_members
from records.runs.run_types import RUN_BASINS, RUNS, RunBasinKey
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS, STATES

CELLS = "cells_at_t0"
_STORE = "c"  # the name of the cells in a state
Series = Sequence[RunSeries]


def without_cells(
    session: Session, version: str, t0: Day, series: Mapping[str, Series], hashes: Mapping[str, str | None]
) -> dict[str, Series]:
    """Return the arrays of basins, without cells that their states store.

    These states are locked until the transaction ends. `hashes` are of the run's state of T0, by basin.
    """
    of_t0 = select(STATES).where(STATES.c.version_id == version, STATES.c.day == t0, STATES.c.basin_id.in_([*series]))
    states = {row.basin_id: row for row in session.execute(of_t0.with_for_update(read=True))}
    return {
        basin: _without(of_basin, states[basin])
        if basin in states and states[basin].sha256 == hashes[basin]
        else of_basin
        for basin, of_basin in series.items()
    }


def with_cells(session: Session, contents: Mapping[RunBasinKey, Content]) -> dict[RunBasinKey, Content]:
    """Return runs' content, with the cells that their states store."""
    lacking = [key for key, of in contents.items() if CELLS in of.series and not of.series[CELLS].values.size]
    if not lacking:
        return dict(contents)
    of_runs = where_keys(_borrowed(), (RUN_BASINS.c.run_id, RUN_BASINS.c.basin_id), lacking)
    states = {(row.run_id, row.basin_id): row for row in session.execute(of_runs)}
    return {
        key: replace(content, series=_with(content.series, key, states.get(key))) if key in lacking else content
        for key, content in contents.items()
    }


def hand_over(session: Session, version: str, states: Collection[tuple[str, Day]]) -> None:
    """Copy the cells of a version's states to be deleted, by basin and day, into the runs that share them.

    A damaged run, or one with a damaged state, stays as it is.
    """
    names, days = {basin for basin, _ in states}, [of_day for _, of_day in states]
    first, last = min(days), max(days)
    of_states = (STATES.c.version_id == version) & STATES.c.basin_id.in_(names) & STATES.c.day.between(first, last)
    of_basins = RUN_BASINS.c.basin_id.in_(names)
    session.execute(select(STATES.c.day).where(of_states).with_for_update())  # no run starts from them meanwhile
    of_runs = (RUNS.c.version_id == version) & RUNS.c.t0.between(first, last) & RUNS.c.id.not_in(ids_pruned("members"))
    if session.scalar(select(RUNS.c.id).where(of_runs).limit(1)) is None:
        return
    for table, owner_of_row in ((RUN_MEMBERS, owner_of_members), (RUN_CONTENTS, owner_of)):
        of_run = (table.c.run_id == RUN_BASINS.c.run_id) & (table.c.basin_id == RUN_BASINS.c.basin_id)
        sharing = (
            _borrowed()
            .add_columns(table.c.content.label("packed"))
            .join(table, of_run)
            .where(of_states, of_runs, of_basins)
        )
        if table is RUN_CONTENTS:
            sharing = sharing.where(_IN_ONE)
        for row in session.execute(sharing).all():
            if (row.basin_id, row.day) not in states:
                continue
            owner = owner_of_row(row.run_id, row.basin_id)
            arrays = unpack(owner, row.packed) if is_whole(owner, row.packed) else {}
            if CELLS not in arrays or arrays[CELLS].values.size or (cells := _cells_of(row)) is None:
                continue
            unit, axes, _ = arrays[CELLS]
            arrays[CELLS] = Labelled(unit, {**axes, "cell": list(range(cells.shape[-1]))}, cells)
            own = table.update().filter_by(run_id=row.run_id, basin_id=row.basin_id)
            session.execute(own.values(content=pack(owner, arrays)))


_IN_ONE = ~exists().where(RUN_MEMBERS.c.run_id == RUN_BASINS.c.run_id, RUN_MEMBERS.c.basin_id == RUN_BASINS.c.basin_id)
"""Whether the content of a run holds all arrays: it is from before its members were stored apart."""


def _borrowed() -> Select[Any]:
    basin, run = RUN_BASINS, RUNS
    of_state = (
        (STATES.c.version_id == run.c.version_id)
        & (STATES.c.basin_id == basin.c.basin_id)
        & (STATES.c.day == run.c.t0)
        & (STATES.c.sha256 == basin.c.state_hash)
    )
    return (
        select(
            basin.c.run_id, basin.c.basin_id, STATES.c.day, STATES.c.content, STATES.c.member_hashes, STATES.c.sha256
        )
        .join_from(basin, run, run.c.id == basin.c.run_id)
        .join(STATES, of_state)
    )


def _without(series: Series, state: Row[Any]) -> Series:
    cells = _cells_of(state)
    return [
        replace(one, axes={**one.axes, "cell": []}, values=one.values[:, :0])
        if one.variable == CELLS and _same(one.values, cells)
        else one
        for one in series
    ]


def _with(series: Mapping[str, RunSeries], key: RunBasinKey, state: Row[Any] | None) -> Mapping[str, RunSeries]:
    cells = None if state is None else _cells_of(state)
    if cells is None:
        run, basin = key
        raise Corrupt(
            f"The state that run {run} of {basin} started from is damaged: forecast again, which recomputes it."
        )
    axes = {**series[CELLS].axes, "cell": list(range(cells.shape[-1]))}
    return {**series, CELLS: replace(series[CELLS], axes=axes, values=cells)}


def _same(values: npt.NDArray[Any], cells: npt.NDArray[Any] | None) -> bool:
    if cells is None or (values.dtype, values.shape) != (cells.dtype, cells.shape):
        return False
    return values.tobytes() == cells.tobytes()


def _cells_of(state: Row[Any]) -> npt.NDArray[Any] | None:
    """Return the cells of each member, (M, cells). None if the state is damaged."""
    arrays = whole_arrays(state.content, state.member_hashes, state.sha256)
    return None if arrays is None else np.asarray(arrays.get(_STORE))
