"""A year of alerts by e-mail and as CAP messages, replayed as if daily on eight real basins.

The season before calibrates the forecasts, as in `alerts-replay`. Three recipients are sent every change by a real mail
server of this machine, over STARTTLS with a verified certificate and a login. By day it takes messages, defers the
first attempts (greylisting), breaks off before it answers (and has taken the message), refuses them, or breaks off at
once; on one issue day it cannot be reached for most of a day. Retries are taken. Between issue days the clock goes from
one due attempt to the next. By that clock it counts the seconds until each recipient first has each change: since the
change was recorded, and since the server could be reached again, which is the delay that is not the outage's.

Every change is also written as a CAP 1.2 message, held against the declaration in `testing/messages/cap.xsd` and, where
`FRESHET_CAP_SCHEMA` names its file, the official schema, read back by capparser, and its references against what its
alert has sent before.
"""

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import xmlschema

from benchmarks.regional import data
from benchmarks.replays.alerts import HORIZON, SEASON, TRACES, YEAR, fill_store, issue_instant
from extensions.cap.endpoints import message as cap_message
from hydrology.base.calendar import Day, Period
from jobspec.jobs.forecasting import ReplayParams
from jobspec.subscriptions import NewSubscription
from operations.alerts.deliver import deliver
from operations.alerts.mail import message_id
from operations.daily.replay import replay
from operations.verification.recalibrate import recalibrate
from records.access import keys
from records.alerts import alert_changes, deliveries, signatures, subscriptions
from records.alerts.alert_changes import Change
from records.database.engine import Database
from records.database.stored import grouped
from records.runs.runs import RunRequest
from runtime.clock import Clock
from runtime.process import log_to_stderr
from runtime.settings import Settings
from testing.messages import cap
from testing.messages.mail_server import Answer, Mail, MailServer, serving_mail
from testing.work import MovedClock, work_of

RECIPIENTS = ("duty@rivers.example", "office@rivers.example", "mayor@town.example")
FAULTS: tuple[Answer, ...] = ("take", "defer", "die", "refuse", "drop")
"""How the server answers first attempts, by issue day in turn."""
OUT_FROM = 92
"""On the first issue day with a change after this many the server cannot be reached, from then on."""
OUT_FOR = timedelta(hours=23, minutes=20, seconds=17)
NO_SERVER = 1
"""A port that nothing listens on."""


@dataclass(slots=True)
class _Year:
    """A store, its mail server, and what arrived when.

    Attributes:
        answer: to what is sent at the instant of the issue day; later it is taken.
        out: when the server could not be reached, and from when it could be again.
        arrived: first time by the replay's clock, by Message-ID.
    """

    database: Database
    settings: Settings
    server: MailServer
    version: str
    now: datetime
    issue_day: datetime
    answer: Answer = "take"
    out: tuple[datetime, datetime] | None = None
    subscriptions: dict[str, str] = field(default_factory=dict)
    arrived: dict[str, datetime] = field(default_factory=dict)

    def answer_to(self, _recipient: str) -> Answer:
        """Return the server's answer now."""
        return self.answer if self.now == self.issue_day else "take"

    def reachable_from(self, at: datetime) -> datetime:
        """Return from when on, at an instant or later, the server can be reached."""
        return self.out[1] if self.out is not None and self.out[0] <= at < self.out[1] else at

    def send(self) -> None:
        """Do a pass, without a server while it is out."""
        out = self.reachable_from(self.now) > self.now
        settings = self.settings.model_copy(update={"smtp_port": NO_SERVER}) if out else self.settings
        deliver(work_of(self.database, MovedClock(time=lambda: self.now), settings))

    def note(self, mail: Mail) -> None:
        """Record when a message arrived first."""
        self.arrived.setdefault(str(mail.message["Message-ID"]), self.now)


def measure(basins: int = 8) -> dict[str, Any]:
    """Return whether every change of a year arrived once, how soon, and whether every CAP message is good."""
    return replayed(data.basins()[:: len(data.basins()) // basins][:basins], SEASON, YEAR)


def replayed(names: list[str], season: Period, period: Period) -> dict[str, Any]:
    """Return the account of a replay of some basins."""
    log_to_stderr("warning")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(serving_mail(MailServer(), Path(folder)))
        year = _begin(Path(folder), server, names, season.first)
        for day in season.days:
            _issue(year, day)
            _send(year, issue_instant(day + 1))
        recalibrate(work_of(year.database, Clock(year.now)), year.version)
        for number, day in enumerate(period.days):
            changed = _issue(year, day)
            year.answer = FAULTS[number % len(FAULTS)]
            if changed and number >= OUT_FROM and year.out is None:
                year.out = (year.now, year.now + OUT_FOR)
            _send(year, issue_instant(day + 1))
        _send(year, None)
        report: dict[str, Any] = {
            "shape": f"{len(names)} basins x {len(period)} issue days; {period}",
            "server_out": None if year.out is None else [str(at) for at in year.out],
        }
        report |= _account_of_mail(year) | _account_of_cap(year)
        report["cpu_seconds"] = round(time.process_time())
        year.database.close()
        return report


def _begin(folder: Path, server: MailServer, names: list[str], first: Day) -> _Year:
    """Store the basins, the ensemble, and the recipients' subscriptions, which they confirm by the link they get."""
    at = issue_instant(first)
    settings = server.settings(folder, as_of=at)
    database = Database(settings.database_url)
    database.migrate()
    version, _ = fill_store(database, names, at)
    year = _Year(database, settings, server, version, at, at)
    server.answers, server.on_mail = year.answer_to, year.note
    with database.transaction() as session:
        key, _ = keys.make(session, "office", "admin", None, at)
        for recipient in RECIPIENTS:
            created = subscriptions.create(session, NewSubscription(email=recipient), key.id, at, settings)
            year.subscriptions[recipient] = created.id
    deliver(work_of(database, MovedClock(time=lambda: at), settings))
    own = signatures.service_key(settings)
    for mail in server.mails:
        found = re.search(r"/mail/confirm/(\S+)", mail.message.get_body(("plain",)).get_content())  # type: ignore[union-attr]
        assert found is not None
        with database.transaction() as session:
            asked = signatures.subscription_of(session, own, "confirm", found[1])
            subscriptions.confirm(session, asked.id, at)
    server.mails.clear()
    year.arrived.clear()
    return year


def _issue(year: _Year, day: Day) -> int:
    """Issue the forecasts of a day, which decide the alerts, and return the number of changes."""
    year.now = year.issue_day = issue_instant(day)
    params = ReplayParams(period=Period(day, day), horizon=HORIZON, traces=TRACES)
    return len(replay(work_of(year.database, Clock(year.now)), RunRequest(params)).changes)


def _send(year: _Year, until: datetime | None) -> None:
    """Send what is due, from now to the next issue day, or until nothing waits."""
    while True:
        year.send()
        with year.database.reading() as session:
            pending = deliveries.page(session, status="pending")
        due = min((max(one.next_at or year.now, year.now) for one in pending), default=None)
        if due is None or (until is not None and due >= until):
            return
        year.now = due


def _account_of_mail(year: _Year) -> dict[str, Any]:
    with year.database.reading() as session:
        changes = [change for change in alert_changes.page(session)[::-1] if change.message is not None]
        stored = [one for one in deliveries.page(session) if one.change_seq is not None]
        attempts = [attempt for one in stored for attempt in deliveries.attempts_of(session, one.id)]
        receivers = [subscriptions.get(session, one) for one in year.subscriptions.values()]
    of_runs = grouped(((one.run_id or one.id, one.basin_id), one) for one in changes).values()
    expected = {
        message_id(year.settings, receiver, [change.id for change in of_run]): of_run[0]
        for receiver in receivers
        for of_run in of_runs
    }
    arrived = [(change.at, year.arrived[one]) for one, change in expected.items() if one in year.arrived]
    times = Counter(str(mail.message["Message-ID"]) for mail in year.server.mails)
    taken = Counter(mail.answer for mail in year.server.mails)
    return {
        "changes": {"all": len(changes)} | Counter(str(change.kind) for change in changes),
        "recipients": len(receivers),
        "messages_expected": len(expected),
        "lost": len(expected.keys() - times.keys()),
        "unknown": len(times.keys() - expected.keys()),
        "one_delivery_for_each": len(stored) == len(changes) * len(receivers)
        and {one.status for one in stored} == {"delivered"},
        "attempts": len(attempts),
        "failed_attempts": dict(Counter(str(one.failure) for one in attempts if one.failure)),
        "taken_again_under_the_same_id": sum(times.values()) - len(times),
        "of_these_after_an_unknown_outcome": taken["die"],
        "attempts_while_the_server_was_out": sum(year.reachable_from(one.at) > one.at for one in attempts),
        "messages_by_seconds_since_recorded": _counted(at - recorded for recorded, at in arrived),
        "messages_by_seconds_since_the_server_could_be_reached": _counted(
            at - year.reachable_from(recorded) for recorded, at in arrived
        ),
    }


def _counted(waits: Iterable[timedelta]) -> dict[str, int]:
    return {f"{seconds:g}": n for seconds, n in sorted(Counter(wait.total_seconds() for wait in waits).items())}


def _account_of_cap(year: _Year) -> dict[str, Any]:
    own, official = xmlschema.XMLSchema(str(cap.SCHEMA)), os.environ.get("FRESHET_CAP_SCHEMA")
    of_oasis = None if official is None else xmlschema.XMLSchema(official)
    with year.database.reading() as session:
        changes: list[Change] = alert_changes.page(session, in_feeds=True)[::-1]
        written = [cap_message(session, year.settings, change.id) for change in changes]
    read = [cap.read(message) for message in written]
    unlike = [
        one["identifier"]
        for one, change in zip(read, changes, strict=True)
        if (one["geocodes"]["basin"], one["parameters"].get("level")) != (change.basin_id, change.level)
        or not one["description"].startswith(change.why)
    ]
    return {
        "cap_messages": len(written),
        "cap_kinds": dict(Counter(one["msgType"] for one in read)),
        "cap_status": dict(Counter(one["status"] for one in read)),
        "cap_faults": sum(len(cap.faults(message, own)) for message in written),
        "cap_faults_by_the_official_schema": None
        if of_oasis is None
        else sum(len(cap.faults(message, of_oasis)) for message in written),
        "cap_broken_chains": len(cap.broken_chains(read)),
        "cap_read_back_otherwise": len(unlike),
        "cap_identifiers_unique": len({one["identifier"] for one in read}) == len(read),
    }
