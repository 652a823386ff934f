"""Tables of runs beside `records.runs.run_types`: their contents, the newest runs, adjustments, and model states."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import JSON, CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, String

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.base.doc import Doc, Why
from hydrology.base.reasons import Reason
from hydrology.uncertainty.exceedance import FlowAdjustment
from hydrology.water.ledger import Sums
from records.database.base import FreeText, JsonList, JsonObject
from records.database.checksums import Arrays, Summed
from records.database.stored import ELSEWHERE, stored, table_of


def _of_run_basin() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"])


@stored("newest_runs", _of_run_basin(), key=("version_id", "basin_id", "which"))
class _NewestRun:
    """A version's newest operational run of a basin, whatever its outcome (`tried`), and the newest that can be its
    latest forecast: one row each for the most frequent query of an archive of any length."""

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: str
    which: Literal["tried", "latest"]
    run_id: str
    t0: Day
    issued_at: datetime
    available_at: datetime


@stored("run_contents", _of_run_basin(), key=("run_id", "basin_id"))
class _RunContent:
    """The arrays of a run and the ledgers of its members, packed and with their digest (`records.runs.run_arrays`)."""

    run_id: str
    basin_id: str
    content: bytes


@stored("run_members", _of_run_basin(), key=("run_id", "basin_id"))
class _RunMembers:
    """The arrays of a run that are pruned with its members, packed and with their digest."""

    run_id: str
    basin_id: str
    content: bytes


_DRAFT, _BY_HAND = Why("It is a draft."), Why("A forecaster changed the forecast, by no measured flow.")
_FIRST, _VALID = Why(Reason.FIRST_STATE.value), Why(Reason.STATE_VALID.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewState:
    """A state to be stored.

    Attributes:
        arrays: the state by name; the first axis of each array is the member.
        sums: what has flowed in and out of each member since the empty store (`hydrology.water.ledger.Sums`); None
            where the network does not conserve mass.
        recent_flow: the members' mean discharge of the last days, `day` the last of them, mm/day; None where
            it is not known.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    day: Annotated[Day, Doc("The last day of weather in it.")]
    product: Annotated[str, Doc("The weather that it was driven with.")]
    arrays: Annotated[Arrays, ELSEWHERE]
    parent_day: Annotated[Day | None, Doc("The day of the state it was advanced from."), _FIRST] = None
    parent_hash: Annotated[str | None, Doc("The fingerprint of that state."), _FIRST] = None
    inputs_hash: Annotated[str, Doc("The fingerprint of the weather and attributes since then.")]
    spin_up_days: Annotated[int, Doc("Days since the empty store.")]
    sums: Annotated[Sums | None, ELSEWHERE] = None
    recent_flow: Annotated[npt.NDArray[np.float32] | None, ELSEWHERE] = None


@stored(
    "states",
    Column("variant", JSON(none_as_null=True), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("sums", LargeBinary),
    Column("sums_hash", String),
    Column("recent_flow", LargeBinary),
    CheckConstraint("(invalid_at IS NULL) = (invalid_reason IS NULL)", name="invalid"),
    CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name="parent"),
    CheckConstraint("parent_day < day", name="order"),
    Index(None, "basin_id", "product", "day"),
    # For queries without a state's content: the newest valid one, and the outdated ones.
    Index(None, "version_id", "basin_id", "day", "invalid_at", "created_at"),
    key=("version_id", "basin_id", "day"),
    summed=Summed(("version_id", "basin_id", "day"), ("content", "sums", "recent_flow")),
)
class State(NewState):
    """The state of a basin at the end of a day: what the model's cells hold, of all members."""

    member_hashes: tuple[str, ...]
    sha256: Annotated[str, Doc("The fingerprint of the arrays of all members.")]
    created_at: datetime
    invalid_at: Annotated[datetime | None, Doc("Since when it may not be used; null while it is valid."), _VALID]
    invalid_reason: Annotated[Absent | None, _VALID]

    @property
    def storage_mm(
        self,
    ) -> Annotated[
        list[float] | None,
        Doc("The water in the basin, mm, of each member in their order."),
        Why(Reason.NOT_CONSERVING.value),
    ]:
        return None if self.sums is None else np.asarray(self.arrays["c"]).sum(axis=-1, dtype=np.float64).tolist()


@stored(
    "adjustments",
    _of_run_basin(),
    CheckConstraint("factor > 0", name="factor"),
    CheckConstraint("(published_at IS NULL) = (publisher IS NULL)", name="published"),
    CheckConstraint(
        "published_at IS NOT NULL OR (note IS NULL AND levels IS NULL AND alerts_at IS NULL)", name="draft"
    ),
    Index(None, "run_id", "basin_id"),
    Index(None, "basin_id", "published_at"),
    Index(None, "alerts_at"),
)
class Adjustment:
    """What a forecaster changes of an issued forecast of a basin, a draft until it is published; or an update by a flow
    that was measured within the day.

    Attributes:
        chances: by level, in place of the computed exceedance probability.
        levels: the chances of levels as issued and as adjusted, as readers saw them first; None for a draft.
        alerts_at: when alerts were decided by it; None: not yet. Of an update, which decides none, when it was stored.
        moves: of an update (`hydrology.uncertainty.within_day`).
    """

    id: str
    run_id: str
    basin_id: str
    factor: Annotated[float, Doc("Multiplies the flow of every day and of every quantile.")]
    shift_days: Annotated[int, Doc("Moves the flow to this many days later; earlier where negative.")]
    chances: JsonObject
    words: Annotated[FreeText, Doc("The reason, in the forecaster's own words.")]
    author: Annotated[str, Doc("Who drafted it: the name of a key.")]
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str
    created_at: datetime
    published_at: Annotated[datetime | None, _DRAFT] = None
    publisher: Annotated[str | None, Doc("Who published it."), _DRAFT] = None
    note: Annotated[FreeText | None, Doc("The publisher's."), Why("There is none.")] = None
    levels: JsonList | None = None
    alerts_at: datetime | None = None
    measured_at: Annotated[datetime | None, Doc("When the flow was measured."), _BY_HAND] = None
    measured_m3s: Annotated[float | None, Doc("The measured flow, m³/s."), _BY_HAND] = None
    moves: JsonList | None = None

    @property
    def state(self) -> Annotated[Literal["draft", "published"], Doc("`draft`: only forecasters see it.")]:
        return "draft" if self.published_at is None else "published"

    @property
    def of_flow(self) -> FlowAdjustment:
        return FlowAdjustment(factor=self.factor, shift_days=self.shift_days, moves=self.moves)


NEWEST_RUNS, RUN_CONTENTS, STATES = table_of(_NewestRun), table_of(_RunContent), table_of(State)
RUN_MEMBERS, ADJUSTMENTS = table_of(_RunMembers), table_of(Adjustment)
IS_PUBLISHED = ADJUSTMENTS.c.published_at.is_not(None)
