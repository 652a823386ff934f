"""A year of alerts, replayed as if daily on eight real basins: every run, change and webhook is accounted for.

The season before is replayed, too: its forecasts calibrate those of the year, as they would have then. Until then
alerts cannot be decided, and give the reason. On every issue day the forecasts are issued, the alerts decided and the
changes sent to three receivers of this machine: one that works, one that answers 500 for a day, and one that on every
fourth day answers only after the sender has hung up, until the retry. Between issue days the clock goes from one due
attempt to the next. Once a year another version is promoted for one basin, and the first again before it forecasts.

All of it is done twice, side by side, from an empty store each time. Changes are compared without the ids of runs and
events, which are random, and counts without those of attempts, of which a machine that stalls needs more. The days are
the test years of the ensemble; its weather forecasts are perturbed observations.
"""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from standardwebhooks import Webhook

from benchmarks.regional import data
from hydrology.base.calendar import Day, Period, as_date
from jobspec.jobs.forecasting import ISSUE_TIME, ReplayParams
from jobspec.subscriptions import NewSubscription
from operations.alerts.deliver import deliver
from operations.basin_data.ingest import ingest
from operations.daily.replay import replay
from operations.training.pretrained import install, read_shipped
from operations.verification.recalibrate import recalibrate
from records.access import keys
from records.alerts import alert_changes, alerts, deliveries, signatures, subscriptions
from records.alerts.alert_changes import Change
from records.database.engine import Database
from records.runs.runs import RunRequest
from records.versions import promotions
from runtime.child_processes import spawn_context
from runtime.clock import Clock
from runtime.process import log_to_stderr
from runtime.settings import Settings
from testing.webhook_receiver import LATE, Received, Receiver, receiving
from testing.work import MovedClock, work_of

ENSEMBLE, OTHER = "mclstm-maurer-447", "freshet-us-maurer"
SEASON, YEAR = Period.parse("1996-05-20..1996-09-30"), Period.parse("1996-10-01..1997-09-30")
HORIZON, TRACES = 10, 11
BROKEN_FROM = 92
"""From the first issue day with a change after this many, one receiver answers 500 until the next."""
LATE_EVERY = 4  # issue days
PROMOTED_ON = 200
OF_ATTEMPTS = ("attempts", "failed_attempts", "received_again")
RECEIVERS = ("well", "broken", "late")
PATIENCE = 1.5  # seconds that a receiver has to answer


@dataclass(slots=True)
class _Year:
    """A store, its receivers, and their results."""

    database: Database
    settings: Settings
    version: str
    other: str
    names: Sequence[str]
    receivers: dict[str, Receiver]
    now: datetime
    subscriptions: dict[str, str] = field(default_factory=dict)
    decided: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    broke_on: Day | None = None


def measure(basins: int = 8) -> dict[str, Any]:
    """Return what was decided and sent in a year, and whether it was complete and the same twice."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    with ProcessPoolExecutor(2, spawn_context()) as pool:
        first, second = pool.map(_replayed, [names] * 2)
    differing = [pair for pair in zip(first.history, second.history, strict=False) if pair[0] != pair[1]]
    same_length = len(first.history) == len(second.history)
    return {
        "shape": f"{basins} basins x {len(YEAR)} issue days, {HORIZON} days ahead, {TRACES} traces; {YEAR}",
        **first.report,
        "same_twice": not differing and same_length and _settled(first) == _settled(second),
        "differing": [[list(one), list(other)] for one, other in differing[:5]],
        "cpu_seconds": [round(first.cpu_seconds), round(second.cpu_seconds)],
    }


@dataclass(frozen=True, slots=True)
class _Account:
    """The outcome of a year: its changes without random ids, its counts, and its cost."""

    history: list[tuple[Any, ...]]
    report: dict[str, Any]
    cpu_seconds: float


def _settled(account: _Account) -> dict[str, Any]:
    """Return the counts that no stall of the machine changes."""
    return {name: count for name, count in account.report.items() if name not in OF_ATTEMPTS}


def _replayed(names: Sequence[str]) -> _Account:
    """Replay the season and the year from an empty store."""
    log_to_stderr("warning")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        year = _begin(Path(folder), names, stack)
        for day in SEASON.days:
            _issue_day(year, day)
        year.decided.clear()
        year.runs = 0
        recalibrate(work_of(year.database, Clock(year.now)), year.version)
        for number, day in enumerate(YEAR.days):
            _promote(year, number)
            changed = _issue_day(year, day)
            if changed and number >= BROKEN_FROM and year.broke_on is None:
                year.broke_on = day
            _answer(year, late=number % LATE_EVERY == 0, broken=year.broke_on == day)
            _send(year, issue_instant(day + 1))
        _answer(year, late=False, broken=False)
        _send(year, None)
        result = _accounted(year)
        year.database.close()
        return result


def _begin(folder: Path, names: Sequence[str], stack: ExitStack) -> _Year:
    """Store the basins, the ensemble, and a subscription for each receiver."""
    receivers = {name: stack.enter_context(receiving(Receiver(hung_up=2 * PATIENCE))) for name in RECEIVERS}
    settings = Settings(data=folder, webhook_hosts=tuple(receiver.host for receiver in receivers.values()))
    database = Database(settings.database_url)
    database.migrate()
    issue_day = issue_instant(SEASON.first)
    version, other = fill_store(database, names, issue_day)
    year = _Year(database, settings, version=version, other=other, names=names, receivers=receivers, now=issue_day)
    with database.transaction() as session:
        for name, receiver in receivers.items():
            key, _ = keys.make(session, name, "operator", None, issue_day)
            new = NewSubscription(url=receiver.url)
            year.subscriptions[name] = subscriptions.create(session, new, key.id, issue_day, settings).id
    return year


def fill_store(database: Database, names: Sequence[str], at: datetime) -> tuple[str, str]:
    """Store basins and two ensembles, and promote the first; return the ids of both versions."""
    outcomes = ingest(work_of(database, Clock(at)), data.source(), names)
    data.require_all({outcome.basin: outcome.error for outcome in outcomes if outcome.error})
    version, other = (
        install(work_of(database, Clock(at)), read_shipped(name)).version_id for name in (ENSEMBLE, OTHER)
    )
    with database.transaction() as session:
        promotions.promote(session, version, names, reason="to replay", by="a benchmark", at=at)
    return version, other


def _issue_day(year: _Year, day: Day) -> int:
    """Issue the forecasts of a day, which decide the alerts, and return the number of changes.

    How each basin stands then is counted.
    """
    year.now = issue_instant(day)
    params = ReplayParams(period=Period(day, day), horizon=HORIZON, traces=TRACES)
    done = replay(work_of(year.database, Clock(year.now)), RunRequest(params))
    year.runs += len(done.runs)
    with year.database.reading() as session:
        standings = alerts.standings(session, year.names)
    issued = {run.id for run in done.runs}
    for name in year.names:
        standing = standings.get(name)
        if standing is None or standing.run_id not in issued:
            year.decided["no forecast"] += 1
        else:
            year.decided["decided" if standing.reason is None else "undecided, with its reason"] += 1
    return len(done.changes)


def _promote(year: _Year, number: int) -> None:
    """Promote another version for a basin, and on the day after the first again, before it forecasts."""
    if number != PROMOTED_ON:
        return
    with year.database.transaction() as session:
        for version in (year.other, year.version):
            promotions.promote(session, version, year.names[:1], reason="to replay", by="a benchmark", at=year.now)


def _answer(year: _Year, *, late: bool, broken: bool) -> None:
    """Set how the receivers answer from this day on: late to what is sent at once, broken to all until the next."""
    issue_day = year.now
    year.receivers["broken"].answers = lambda: 500 if broken else 204
    year.receivers["late"].answers = lambda: LATE if late and year.now == issue_day else 204


def _send(year: _Year, until: datetime | None) -> None:
    """Send what is due, from now to the next issue day, or until nothing waits."""
    while True:
        deliver(work_of(year.database, MovedClock(time=lambda: year.now), year.settings), PATIENCE)
        with year.database.reading() as session:
            pending = deliveries.page(session, status="pending")
        due = min((max(one.next_at or year.now, year.now) for one in pending), default=None)
        if due is None or (until is not None and due >= until):
            return
        year.now = due


def _accounted(year: _Year) -> _Account:
    with year.database.reading() as session:
        changes = [change for change in alert_changes.page(session)[::-1] if change.message is not None]
        stored = deliveries.page(session)
        attempts = {one.id: deliveries.attempts_of(session, one.id) for one in stored}
    events = {change.seq: change.id for change in changes}
    received = {name: _events(year, name) for name in year.receivers}
    of_subscription = Counter((one.subscription_id, events[one.change_seq or 0]) for one in stored)
    failures = Counter(str(attempt.failure) for log in attempts.values() for attempt in log if attempt.failure)
    report = {
        "runs": year.runs,
        "broken_on": str(year.broke_on),
        "basin_mornings": {"all": len(year.names) * len(YEAR), **year.decided},
        "changes": {"all": len(changes)} | Counter(str(change.kind) for change in changes),
        "severities_started": dict(Counter(str(one.severity) for one in changes if one.kind in ("begins", "rises"))),
        "deliveries": {"all": len(stored)} | Counter(str(one.status) for one in stored),
        "attempts": sum(map(len, attempts.values())),
        "failed_attempts": dict(failures),
        "events_received": {name: len(set(of_receiver)) for name, of_receiver in received.items()},
        "received_again": {name: len(of_receiver) - len(set(of_receiver)) for name, of_receiver in received.items()},
        "every_event_once_a_subscription": set(of_subscription.values()) == {1}
        and len(of_subscription) == len(changes) * len(year.receivers)
        and all(set(of_receiver) == set(events.values()) for of_receiver in received.values()),
        "signatures_wrong": sum(not good for name in year.receivers for good in _signatures(year, name)),
    }
    return _Account([_reported(change) for change in changes], report, time.process_time())


def _reported(change: Change) -> tuple[Any, ...]:
    names = (
        "kind",
        "basin_id",
        "level",
        "severity",
        "severity_before",
        "trend",
        "chance",
        "chance_before",
        "discharge",
    )
    return str(change.at), str(change.t0), *(getattr(change, name) for name in names)


def _events(year: _Year, name: str) -> list[str]:
    """Return the events that a receiver took, in their order: what a run changed at a basin is one message."""
    taken = [json.loads(one.body) for one in year.receivers[name].requests if one.answer in (204, LATE)]
    return [change["event"] for message in taken for change in (message["data"], *message.get("others", ()))]


def _signatures(year: _Year, name: str) -> Iterator[bool]:
    """Yield of every request to a receiver whether its signature is good."""
    secret = signatures.secret(signatures.service_key(year.settings), year.subscriptions[name], 1)
    for request in year.receivers[name].requests:
        yield _is_signed(request, secret)


def _is_signed(request: Received, secret: str) -> bool:
    at = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
    expected = Webhook(secret).sign(request.headers["webhook-id"], at, request.body.decode())
    return request.headers["webhook-signature"] == expected


def issue_instant(issue_day: Day) -> datetime:
    """Return when the forecasts of a day are issued."""
    return datetime.combine(as_date(issue_day), ISSUE_TIME)
