"""Answers about adjustments and held alerts."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from app.alerts.changes import ProposedChange
from app.forecasts.schemas import Columns, Days, FieldUnits, GappyColumns, LeadDays
from app.http.base_schema import Missing, Model, OfBasin, column, next_page
from hydrology.uncertainty.exceedance import Direction


class Adjustment(OfBasin):
    """What a forecaster changes of an issued forecast of a basin."""

    id: str
    run: str
    t0: date
    state: Literal["draft", "published"] = Field(description="`draft`: only forecasters see it.")
    factor: float = Field(description="Multiplies the flow of every day and of every quantile.")
    shift_days: int = Field(description="Moves the flow to this many days later; earlier where negative.")
    chances: dict[str, float] = Field(description="By level: the chance of passing it that the forecaster set.")
    words: str = Field(description="The reason, in the forecaster's own words.")
    author: str = Field(description="Who drafted it: the name of a key.")
    created_at: datetime
    publisher: str | None = Field(description="Who published it.")
    published_at: datetime | None
    note: str | None = Field(description="The publisher's.")
    missing: Missing


class AdjustmentPage(Model):
    """Adjustments, the newest draft first."""

    adjustments: list[Adjustment]
    next: str | None = next_page("/v1/adjustments?limit=100&after=01a1fa31d0a6718d9e12f4")


class AdjustedLevel(Model):
    """The chance of passing a level within the alerts' window."""

    level: str
    direction: Direction
    discharge: float = Field(description="m³/s.")
    issued: float = Field(description="As computed.")
    adjusted: float = Field(description="By the adjusted flow, or as the forecaster set it.")


class AdjustedForecast(Adjustment):
    """A forecast as issued and as adjusted, side by side."""

    units: FieldUnits
    time: Days
    lead_days: LeadDays
    flow_of: Literal["calibrated", "discharge"] = Field(
        description="What is adjusted: the calibrated quantiles, or without them those of the members."
    )
    issued: Columns = Field(description=column("The quantiles as issued, in the requested unit"))
    adjusted: GappyColumns = Field(description=column("The same as adjusted; null on days that no flow is moved to"))
    window_days: int = Field(description="Number of days after T0 that the chances cover.")
    levels: list[AdjustedLevel] | None = Field(description="In the order of their names; null without a calibration.")


class HeldAlerts(OfBasin):
    """Changes of the alerts of a basin that a run proposes and that wait for approval."""

    run: str
    held_at: datetime
    due_at: datetime | None = Field(
        description="When they go out as proposed if nobody decides before; null where they wait for a level in doubt."
    )
    in_doubt: dict[str, str] = Field(
        description="Levels of the basin that seem wrong, and why. To approve their changes is to confirm them."
    )
    proposed: list[ProposedChange]
    ruling: Literal["approve", "dismiss"] | None = Field(description="What somebody decided; carried out in seconds.")
    ruled_by: str | None
    ruled_at: datetime | None
    note: str | None
    missing: Missing


class HeldAlertsPage(Model):
    """What waits for approval, by basin."""

    held: list[HeldAlerts]
    next: str | None = next_page("/v1/alerts/held?limit=100&after=USGS-13235000")
