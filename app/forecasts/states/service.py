"""Builds the answers about states."""

from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.forecasts.states.schemas import StateArray, StateDetail, StateSummary
from app.http.base_schema import Absences
from app.http.json_numbers import column
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, as_date
from hydrology.base.reasons import Reason
from records.runs import states
from records.versions.versions import Version

START = absent(Reason.FIRST_STATE)


def summary(state: states.State) -> StateSummary:
    """Return a state as in a list."""
    return StateSummary(**_summary(state))


def detail(session: Session, version: Version, basin: str, day: Day) -> StateDetail:
    """Return the state of a day with its arrays.

    Raises:
        UnknownState: there is none.
        Corrupt: it is damaged.
    """
    state = states.require(session, version.id, basin, day)
    return StateDetail(
        **_summary(state),
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=version.id,
        members=[str(label) for label in version.members],
        member_sha256=list(state.member_hashes),
        arrays={
            name: StateArray(dtype=array.dtype.name, shape=list(array.shape), values=array.tolist())
            for name, array in state.arrays.items()
        },
    )


def _summary(state: states.State) -> dict[str, Any]:
    absences = Absences()
    valid = absent(Reason.STATE_VALID)
    reason = valid if state.invalid_reason is None else str(state.invalid_reason)
    return {
        "day": as_date(state.day),
        "product": state.product,
        "sha256": state.sha256,
        "parent_day": absences.present("parent_day", START if state.parent_day is None else as_date(state.parent_day)),
        "parent_sha256": absences.present("parent_sha256", state.parent_hash or START),
        "inputs_hash": state.inputs_hash,
        "spin_up_days": state.spin_up_days,
        "storage_mm": absences.present("storage_mm", _storage(state)),
        "created_at": state.created_at,
        "invalid_at": absences.present("invalid_at", state.invalid_at or valid),
        "invalid_reason": absences.present("invalid_reason", reason),
        "missing": absences.texts,
    }


def _storage(state: states.State) -> list[float] | Absent:
    """Return the water in the cells of each member, mm."""
    storage = state.storage
    return absent(Reason.NOT_CONSERVING) if storage is None else column(storage)
