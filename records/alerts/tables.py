"""Alerts and their changes, subscriptions, deliveries, and the levels that alerts use."""

from datetime import datetime
from typing import get_args

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.extremes.alerting import SEVERITIES
from jobspec.changes import Ruling
from jobspec.levels import CATEGORIES
from records.database.base import Base, FreeText, JsonList, JsonObject, one_of
from records.runs.run_summary import CalibrationKind


class AlertBasinRow(Base):
    """The last run that decided the alerts of a basin, or failed to."""

    __tablename__ = "alert_basins"

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    t0: Mapped[Day]
    issued_at: Mapped[datetime]
    window_days: Mapped[int]
    decided_at: Mapped[datetime]
    # Why it could not decide; null if it did.
    reason: Mapped[Absent | None]


class HeldAlertsRow(Base):
    """Changes of the alerts of a basin that a run proposes and that wait for a person."""

    __tablename__ = "held_alerts"
    __table_args__ = (
        one_of("ruling", *get_args(Ruling)),
        CheckConstraint(
            "(ruling IS NULL) = (ruled_by IS NULL) AND (ruling IS NULL) = (ruled_at IS NULL)", name="ruled"
        ),
    )

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    # Each as receivers would get it.
    proposed: Mapped[JsonList]
    # By the machine's clock. Without a deadline they wait until somebody decides: a level of theirs is in doubt.
    held_at: Mapped[datetime]
    due_at: Mapped[datetime | None]
    ruling: Mapped[str | None]
    ruled_by: Mapped[FreeText | None]
    ruled_at: Mapped[datetime | None]
    note: Mapped[FreeText | None]


class AlertRow(Base):
    """The alert state of a level. The severity is null without an alert."""

    __tablename__ = "alerts"
    __table_args__ = (
        one_of("direction", "rising", "falling"),
        one_of("calibration", *get_args(CalibrationKind)),
        one_of("severity", *SEVERITIES),
        one_of("trend", "rising", "steady", "falling"),
        CheckConstraint("(severity IS NULL) = (since IS NULL)", name="since"),
        CheckConstraint("chance BETWEEN 0 AND 1", name="chance"),
    )

    basin_id: Mapped[str] = mapped_column(ForeignKey("alert_basins.basin_id"), primary_key=True)
    level: Mapped[str] = mapped_column(primary_key=True)
    # Statistic of a level of the record; null for one that an operator set.
    kind: Mapped[str | None]
    return_period_years: Mapped[int | None]
    direction: Mapped[str]
    # m3/s
    discharge: Mapped[float]
    # m, of an official category.
    official_stage: Mapped[float | None]
    chance: Mapped[float]
    calibration: Mapped[str]
    trend: Mapped[str | None]
    severity: Mapped[str | None]
    since: Mapped[datetime | None]
    # [on, runs] for each step of the ladder.
    switches: Mapped[JsonList]
    why: Mapped[str]
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))


class AlertChangeRow(Base):
    """A change of an alert. Numbers only grow; `key` prevents a run from recording the same change twice."""

    __tablename__ = "alert_changes"
    __table_args__ = (
        one_of("kind", "begins", "rises", "falls", "ends", "level", "undecided", "decided", "promotion"),
        one_of("severity", *SEVERITIES),
        one_of("severity_before", *SEVERITIES),
        one_of("direction", "rising", "falling"),
        one_of("trend", "rising", "steady", "falling"),
        one_of("category", *CATEGORIES),
        CheckConstraint("(kind = 'promotion') = (run_id IS NULL)", name="run"),
        UniqueConstraint("id"),
        UniqueConstraint("key"),
        Index(None, "basin_id", "seq"),
        {"sqlite_autoincrement": True},
    )

    seq: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    key: Mapped[str]
    kind: Mapped[str]
    at: Mapped[datetime]
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"))
    level: Mapped[str | None]
    direction: Mapped[str | None]
    discharge: Mapped[float | None]
    # m
    stage: Mapped[float | None]
    category: Mapped[str | None]
    impact: Mapped[FreeText | None]
    severity: Mapped[str | None]
    severity_before: Mapped[str | None]
    chance: Mapped[float | None]
    chance_before: Mapped[float | None]
    trend: Mapped[str | None]
    window_days: Mapped[int | None]
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"))
    t0: Mapped[Day | None]
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    why: Mapped[str]
    # The person who approved it or published the adjustment behind it; null where nobody did.
    decided_by: Mapped[FreeText | None]
    adjustment_id: Mapped[str | None] = mapped_column(ForeignKey("adjustments.id"))
    # Whether it was decided at an instant of the past; whether it is meant is never judged by today's settings.
    replayed: Mapped[bool]
    # The official sender of that time; null without one, and for an unofficial basin.
    sender: Mapped[str | None]
    # The operator's key whose unofficial basin it was, whose subscriptions alone get it; null for an official basin.
    owner: Mapped[str | None]
    # The id of the change that heads its message; null where it is not sent.
    message: Mapped[str | None]
    # Of the head of a message: the levels of the river with an alert since then.
    levels: Mapped[JsonList | None]


class SubscriptionRow(Base):
    """A receiver of alert changes."""

    __tablename__ = "subscriptions"
    __table_args__ = (
        one_of("least_severity", *SEVERITIES),
        CheckConstraint("generation > 0", name="generation"),
        CheckConstraint("(url IS NULL) <> (email IS NULL)", name="receiver"),
        CheckConstraint("(paused_at IS NULL) = (paused_because IS NULL)", name="paused"),
        Index(None, "key_id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str]
    url: Mapped[str | None]
    email: Mapped[str | None]
    # Body of each request to a gateway; null: the change as JSON.
    template: Mapped[JsonObject | None]
    # When a message with the changes of a day is sent; null: one message for each.
    digest: Mapped[JsonObject | None]
    # Null: all basins.
    basins: Mapped[JsonList | None]
    least_severity: Mapped[str]
    # Number of the secret, which is not stored: it is derived from this number and the service's own key.
    generation: Mapped[int]
    rotated_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    # When the recipient of e-mail agreed; null: nothing but the question is sent.
    confirmed_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    paused_because: Mapped[Absent | None]


class MailQuestionRow(Base):
    """A question to a recipient of e-mail whether it agrees. It outlives its subscription and its delivery."""

    __tablename__ = "mail_questions"
    __table_args__ = (Index(None, "mailbox"), Index(None, "key_id", "at"))

    # Of its delivery.
    id: Mapped[str] = mapped_column(primary_key=True)
    # A keyed hash.
    mailbox: Mapped[str]
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str]
    at: Mapped[datetime]
    # False: it is not sent, since the mailbox had another, or has refused.
    is_allowed: Mapped[bool]


class MailRefusalRow(Base):
    """A mailbox that wants no questions."""

    __tablename__ = "mail_refusals"

    mailbox: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class MailboxSaltRow(Base):
    """The key that mailboxes are hashed with."""

    __tablename__ = "mailbox_salt"
    __table_args__ = (CheckConstraint("id = 1", name="id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    salt: Mapped[str]


class DeliveryRow(Base):
    """A change to send to a subscription, or the question whether its recipient agrees."""

    __tablename__ = "deliveries"
    __table_args__ = (
        one_of("status", "pending", "delivered", "failed"),
        CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
        UniqueConstraint("subscription_id", "change_seq"),
        Index(None, "status", "next_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    subscription_id: Mapped[str] = mapped_column(ForeignKey("subscriptions.id", ondelete="CASCADE"))
    # Null: the question.
    change_seq: Mapped[int | None] = mapped_column(ForeignKey("alert_changes.seq"))
    status: Mapped[str]
    # Attempts since it was created or last replayed, without those that a fault of the mail server ended.
    tries: Mapped[int]
    # Null: at once.
    next_at: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class DeliveryAttemptRow(Base):
    """One attempt to send. Without a status and a failure it is under way, or its sender was lost."""

    __tablename__ = "delivery_attempts"
    __table_args__ = (CheckConstraint("status_code IS NULL OR ended_at IS NOT NULL", name="answer"),)

    delivery_id: Mapped[str] = mapped_column(ForeignKey("deliveries.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    status_code: Mapped[int | None]
    failure: Mapped[Absent | None]
