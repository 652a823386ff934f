"""Answers about alerts, their receivers and deliveries."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from app.basins.ratings import Stage
from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, ReasonText, next_page
from hydrology.extremes.alerting import Severity, Trend
from hydrology.extremes.thresholds import Kind
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import CategoryName
from jobspec.subscriptions import Digest, MessageTemplate
from records.alerts.alert_changes import ChangeKind
from records.alerts.deliveries import Status
from records.runs.run_summary import CalibrationKind


class AlertStep(Model):
    """A severity of a level: its thresholds and current state."""

    severity: Severity
    begins_at: float = Field(description="The severity begins at this chance.")
    ends_below: float = Field(description="The severity ends below this chance.")
    begins_after_runs: int = Field(description="Number of consecutive runs at or above `begins_at`.")
    ends_after_runs: int = Field(description="Number of consecutive runs below `ends_below`.")
    on: bool = Field(description="Whether it, or a higher one, is reached.")
    runs: int = Field(description="Number of consecutive runs, the latest included, that support the opposite state.")


class Alert(Model):
    """The current alert of one level."""

    basin: str
    level: str = Field(description="The level's name in `/v1/basins/{basin}/thresholds`.")
    kind: Kind | None = Field(description="Kind of level; null for a user-defined level.")
    return_period_years: int | None = Field(description="Mean number of years between exceedances.")
    direction: Direction = Field(description="Whether it is passed upwards (`rising`) or downwards.")
    discharge: float = Field(description="m³/s.")
    stage: Stage = Field(description="Its stage, by the basin's rating of the day.")
    category: CategoryName | None = Field(description="The official flood category; null for other levels.")
    impact: str | None = Field(description="What happens from this level on, as the category's source states it.")
    chance: float = Field(description="The calibrated chance of passing it on any day of the window, 0 to 1.")
    calibration: CalibrationKind = Field(
        description="What the chance rests on, as `calibration.kind` of the forecast: `provisional` where no forecasts "
        "with the weather model have been compared with observed flow, `backfilled` where most of those were computed "
        "later with its past issues."
    )
    trend: Trend | None = Field(description="Which way the chance has moved since the run before.")
    severity: Severity | None = Field(description="Null: there is no alert.")
    since: datetime | None = Field(description="When the severity was reached, by the service's clock.")
    why: str = Field(description="The numbers and the rule behind the decision.")
    run: str = Field(description="The run that decided it.")
    steps: list[AlertStep] = Field(description="The rules of the level, the least severe first.")
    missing: Missing


class StandingLevel(Model):
    """A level with an alert, in brief."""

    level: str
    severity: Severity
    chance: float
    discharge_m3s: float


STANDING = (
    "The levels of the river with an alert, the one that stands for it first: of the most severe, the furthest out "
    "that is likely to be passed (a chance from 0.5), otherwise the furthest out that is possible (from 0.1)."
)


class RiverAlert(Alert):
    """The current alert of a river, a basin and a direction: that of the level that stands for it."""

    levels: list[StandingLevel] = Field(description=STANDING)


class Alerts(Model):
    """Alerts of all rivers."""

    alerts: list[RiverAlert] = Field(description="In the order of basins and directions.")
    next: str | None = next_page("/v1/alerts?limit=100&after=USGS-13235000%2Frising")


class BasinAlerts(Model):
    """The alerts of a basin by its newest forecast."""

    basin: str
    basin_kind: BasinKind
    run: str | None = Field(description="The latest run that was evaluated.")
    version: str | None = Field(description="The model version that issued it.")
    t0: date | None
    issued_at: datetime | None
    window_days: int | None = Field(description="Number of days after T0 that the chances cover.")
    decided_at: datetime | None = Field(description="By the service's clock.")
    reason: str | None = Field(description="Why the run could not decide: the levels stay as an earlier one left them.")
    levels: list[Alert] = Field(description="In the order of their names.")
    missing: Missing


class ProposedChange(Model):
    """A change of an alert that a run proposes."""

    kind: ChangeKind = Field(
        description="`begins`, `rises`, `falls`, `ends`: the severity of a level. `level`: somebody changed or removed "
        "a level with an alert. `undecided`, `decided`: the alerts of the basin can not, or again, be decided. "
        "`promotion`: its forecasts come from another model version; the river has not changed."
    )
    at: datetime = Field(description="By the service's clock.")
    basin: str
    level: str | None
    direction: Direction | None
    discharge_m3s: float | None
    stage_ft: float | None = Field(
        description="The official stage of a flood category, otherwise that of the discharge by the basin's rating."
    )
    category: CategoryName | None = Field(description="The official flood category; null for other levels.")
    impact: str | None = Field(description="What happens from this level on, as the category's source states it.")
    severity: Severity | None = Field(description="Now; of the whole basin, the highest.")
    severity_before: Severity | None
    trend: Trend | None
    chance: float | None
    chance_before: float | None = Field(description="By the run before.")
    window_days: int | None
    run: str | None = Field(description="The run that caused it.")
    t0: date | None
    version: str = Field(description="The model version that the forecasts come from.")
    why: str = Field(description="The numbers and the rule, and what a forecaster contributed.")
    decided_by: str | None = Field(description="Who approved it or published the adjustment behind it.")
    adjustment: str | None = Field(description="The published adjustment behind it.")
    levels: list[StandingLevel] | None = Field(description=f"Of the change that heads a message, after it. {STANDING}")
    missing: Missing


class AlertChange(ProposedChange):
    """A change of an alert; receivers get the same fields in `data`, without `missing`."""

    event: str = Field(description="Its id: `webhook-id` of every attempt to notify a receiver.")
    official: bool = Field(
        description="Whether it is meant: false for an exercise, without an official sender, and for an unofficial "
        "basin, whose changes go to its owner's subscriptions alone."
    )
    message: str | None = Field(
        description="The `event` of the change that heads its message: what a run changes at a river is one. Null "
        "where it is not sent."
    )


class AlertChanges(Model):
    """Changes of a basin's alerts, the newest first."""

    changes: list[AlertChange]
    next: str | None = next_page("/v1/basins/USGS-13235000/alerts/changes?limit=100&after=42")


class Subscription(Model):
    """A receiver of alert changes: a webhook, a gateway or a person."""

    id: str
    url: str | None = Field(description="Address that changes are posted to.")
    email: str | None = Field(description="Address that changes are sent to by e-mail.")
    template: MessageTemplate | None = Field(description="Body of the requests; null: the change as JSON.")
    digest: Digest | None = Field(description="When the changes of a day are sent in one message.")
    basins: list[str] | None = Field(description="Basins whose changes are sent; null: all.")
    least_severity: Severity = Field(description="Changes below this severity, before and after, are not sent.")
    feed: str | None = Field(description="Address of an Atom feed of the same changes.")
    created_at: datetime
    confirmed_at: datetime | None = Field(description="When the recipient of e-mail agreed. Before, nothing is sent.")
    paused_at: datetime | None = Field(description="Since when nothing is sent.")
    paused_because: ReasonText | None = Field(description="Why nothing is sent.")
    rotated_at: datetime | None = Field(description="When the secret was last replaced.")
    old_secret_until: datetime | None = Field(description="Until then deliveries are signed with the old secret too.")
    missing: Missing


class SubscriptionWithSecret(Subscription):
    """A receiver of alert changes and its secret, which is shown this once."""

    secret: str | None = Field(
        description="Secret for verifying signatures by Standard Webhooks. It is shown only this once: store it. Null "
        "for e-mail."
    )


class Subscriptions(Model):
    """The key's own subscriptions (for an admin's key, all), oldest first."""

    subscriptions: list[Subscription]


class DeliveryAttempt(Model):
    """One sending."""

    number: int
    at: datetime
    ended_at: datetime | None
    status_code: int | None = Field(description="The receiver's HTTP status, or the mail server's code.")
    failure: ReasonText | None = Field(description="Why it does not count as delivered.")
    missing: Missing


class Delivery(Model):
    """An alert change to be sent to a receiver, or the question whether the recipient of e-mail agrees."""

    id: str
    subscription: str
    event: str | None = Field(description="Identifier of the change: `webhook-id` of every attempt.")
    kind: ChangeKind | Literal["confirmation"]
    basin: str | None
    status: Status = Field(description="`failed`: after its last attempt. Replay it when the receiver is well.")
    tries: int = Field(
        description="Attempts since creation or the last replay, without those that a fault of the mail server ended."
    )
    most_tries: int = Field(description="Maximum of `tries`: after these it has failed.")
    next_at: datetime | None = Field(description="Time of the next attempt; null: immediately.")
    ended_at: datetime | None
    missing: Missing


class DeliveryDetail(Delivery):
    """An alert change for a receiver, with every attempt to send it."""

    attempts: list[DeliveryAttempt] = Field(description="The oldest first.")


class DeliveryPage(Model):
    """Deliveries, the newest first."""

    deliveries: list[Delivery]
    next: str | None = next_page("/v1/deliveries?limit=100&after=01a1fa31d0a6718d9e12f4")
