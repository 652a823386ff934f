"""A forecaster's adjustment of a run's forecast, and its table."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index

from hydrology.uncertainty.exceedance import FlowAdjustment
from records.database.base import FreeText, JsonList, JsonObject
from records.database.stored import stored, table_of


@stored(
    "adjustments",
    ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
    CheckConstraint("factor > 0", name="factor"),
    CheckConstraint("(published_at IS NULL) = (publisher IS NULL)", name="published"),
    CheckConstraint(
        "published_at IS NOT NULL OR (note IS NULL AND levels IS NULL AND alerts_at IS NULL)", name="draft"
    ),
    Index(None, "run_id", "basin_id"),
    Index(None, "basin_id", "published_at"),
    Index(None, "alerts_at"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What a forecaster changes of a run's forecast of a basin; a draft until it is published.

    Attributes:
        chances: by level, in place of the computed exceedance probability.
        levels: the chances of levels as issued and as adjusted, as readers saw them first; None for a draft.
        alerts_at: when alerts were decided by it; None: not yet.
    """

    id: str
    run_id: str
    basin_id: str
    factor: float
    shift_days: int
    chances: JsonObject
    words: FreeText
    author: str
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str
    created_at: datetime
    published_at: datetime | None = None
    publisher: str | None = None
    note: FreeText | None = None
    levels: JsonList | None = None
    alerts_at: datetime | None = None

    @property
    def of_flow(self) -> FlowAdjustment:
        """The change of the flow."""
        return FlowAdjustment(self.factor, self.shift_days)


ADJUSTMENTS = table_of(Adjustment)
IS_PUBLISHED = ADJUSTMENTS.c.published_at.is_not(None)
