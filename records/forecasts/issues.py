"""Issues of the daily cycle: the basins that a day's forecasts are expected for, and the outcome of each."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Literal

from sqlalchemy import ForeignKey, func, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from records.basins.ownership import BASINS
from records.database.stored import (
    Columns,
    add_all,
    as_values,
    find,
    find_or_raise,
    narrowed,
    read,
    stored,
    table_of,
    upsert,
)
from records.database.visibility import SHADOW

Outcome = Literal["issued", "filled", "unchanged", "pending", "stale", "withheld", "failed"]
"""Outcome of a basin in an issue. `issued`: a forecast of this day. `filled`: one whose last past days are filled from
other weather. `unchanged`: its earlier forecast already uses all known data. `pending`: its part is not done, or was
lost. `stale`: its data stopped, and its latest forecast is too old. `withheld`, `failed`: it has no forecast, and the
reason."""
RENEWED: tuple[Outcome, ...] = ("issued", "filled")
MISSING: tuple[Outcome, ...] = ("pending", "stale", "withheld", "failed")


class UnknownIssue(NotFound):
    """No daily cycle was started on this day."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of a basin, its latest run, and why it has no new forecast."""

    outcome: Outcome
    run: str | None = None
    reason: Absent | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of the basins of an issue."""

    expected: Annotated[int, Doc("Number of basins with a current model version when the first cycle began.")] = 0
    counts: Annotated[dict[str, int], Doc("Number of basins by outcome.")] = field(default_factory=dict)
    reasons: Annotated[dict[str, int], Doc("Number of missing basins by the code of their reason.")] = field(
        default_factory=dict
    )

    @property
    def renewed(self) -> int:
        return sum(self.counts.get(outcome, 0) for outcome in RENEWED)

    @property
    def lacking(self) -> int:
        return sum(self.counts.get(outcome, 0) for outcome in MISSING)


@stored("issues", key=("day",))
class Issue:
    """The forecasts of a day: one record of all its daily cycles, and of what is issued again for the missing."""

    day: Annotated[Day, Doc("The day of issue, in UTC by the service's clock.")]
    opened_at: Annotated[datetime, Doc("When its first cycle began.")]
    closed_at: Annotated[datetime | None, Doc("When its first cycle ended."), Why("No cycle of it has ended.")] = None
    late: Annotated[bool, Doc("Whether it was issued, or completed, after its day with what was known then.")] = False
    # Not a foreign key: jobs are pruned.
    job_id: Annotated[str | None, Doc("The job of the first cycle."), Why("It was a command.")] = None
    tally: Annotated[Tally, Columns()] = field(default_factory=Tally)


@stored("issue_basins", key=("day", "basin_id"))
class IssueBasin:
    """A basin of an issue, and its outcome."""

    day: Annotated[Day, ForeignKey("issues.day")]
    basin_id: Annotated[str, ForeignKey("basins.id"), Doc("Its identifier.")]
    version_id: Annotated[str, ForeignKey("versions.id"), Doc("Its current model version when the issue began.")]
    outcome: Annotated[Outcome, Doc("How it ended, or that it has not.")]
    run_id: Annotated[str | None, ForeignKey("runs.id"), Doc("Its latest forecast."), Why("It has no forecast.")] = None
    reason: Annotated[Absent | None, Doc("Why it has no new forecast.")] = None


ISSUES, ISSUE_BASINS = table_of(Issue), table_of(IssueBasin)


def start(session: Session, issue: Issue, versions: Mapping[str, str]) -> None:
    """Store an issue, or add basins, by their versions, to the one of its day that is stored.

    One that no cycle has closed on its day is late from now on.
    """
    add_all(session, Issue, [as_values(issue)], if_new=True)
    known = find(session, Issue, for_update=True, day=issue.day)
    if issue.late and known is not None and known.closed_at is None:
        session.execute(ISSUES.update().where(ISSUES.c.day == issue.day).values(late=True))
    rows = [
        IssueBasin(day=issue.day, basin_id=name, version_id=one, outcome="pending") for name, one in versions.items()
    ]
    add_all(session, IssueBasin, [as_values(row) for row in rows], if_new=True)
    _write(session, issue.day)


def settle(session: Session, of_day: Day, outcomes: Mapping[str, Settled], closed_at: datetime | None = None) -> None:
    """Store the outcomes of basins of an issue. A basin with a forecast of the day retains it; others are left out."""
    find(session, Issue, for_update=True, day=of_day)  # parts are done side by side: each counts those before it
    changed = [
        replace(known, outcome=one.outcome, run_id=one.run, reason=one.reason)
        for known in basins_of(session, of_day, ("unchanged", *MISSING), names=outcomes)
        for one in (outcomes[known.basin_id],)
    ]
    upsert(session, IssueBasin, [as_values(one) for one in changed], compared=("outcome", "run_id", "reason"))
    _write(session, of_day, closed_at)


def _write(session: Session, of_day: Day, closed_at: datetime | None = None) -> None:
    stored = find_or_raise(session, Issue, _unknown(of_day), day=of_day)
    (tally,) = tallies(session, [of_day]).values()
    written = replace(stored, tally=tally, closed_at=stored.closed_at or closed_at)
    if written != stored:
        session.execute(ISSUES.update().where(ISSUES.c.day == of_day).values(as_values(written, "day")))


def tallies(
    session: Session, days: Sequence[Day], version: str | None = None, huc: str | None = None
) -> dict[Day, Tally]:
    """Return the numbers of basins of each issue: of all, or of those of a version, or of a region by its HUC."""
    rows = ISSUE_BASINS.c
    public = rows.basin_id.not_in(select(BASINS.c.id).where(BASINS.c.registered_by == SHADOW))
    query = select(rows.day, rows.outcome, rows.reason, func.count()).where(rows.day.in_(days), public)
    query = narrowed(query, (rows.version_id.__eq__, version))
    if huc is not None:
        query = query.join(BASINS, BASINS.c.id == rows.basin_id).where(BASINS.c.huc.startswith(huc, autoescape=True))
    found: dict[Day, Counter[tuple[Outcome, str | None]]] = {one: Counter() for one in days}
    for of_day, outcome, reason, count in session.execute(query.group_by(rows.day, rows.outcome, rows.reason)):
        found[of_day][outcome, reason and reason.code] += count
    return {of_day: _tally(counts) for of_day, counts in found.items()}


def _tally(counts: Mapping[tuple[Outcome, str | None], int]) -> Tally:
    by_outcome, by_reason = Counter[str](), Counter[str]()
    for (outcome, code), count in counts.items():
        by_outcome[outcome] += count
        if outcome in MISSING and code is not None:
            by_reason[code] += count
    return Tally(by_outcome.total(), dict(sorted(by_outcome.items())), dict(sorted(by_reason.items())))


def get(session: Session, of_day: Day) -> Issue:
    return find_or_raise(session, Issue, _unknown(of_day), day=of_day)


def _unknown(of_day: Day) -> UnknownIssue:
    return UnknownIssue(f"No daily cycle was started on {of_day}: /v1/issues lists the days with one.")


def missed(session: Session, days: Period) -> list[Day]:
    """Return the days without an issue that a cycle has closed, oldest first; from the first recorded issue on."""
    first = session.scalar(select(func.min(ISSUES.c.day)))
    query = select(ISSUES.c.day).where(ISSUES.c.day.between(days.first, days.last), ISSUES.c.closed_at.is_not(None))
    closed = {*session.scalars(query)}
    return [] if first is None else [one for one in days.days if one >= first and one not in closed]


def newest(session: Session, now: datetime) -> Issue | None:
    """Return the issue that forecasts of now belong to: today's or, before its cycle begins, yesterday's."""
    days = [day((now - timedelta(days=ago)).date()) for ago in (0, 1)]
    return next(iter(page(session, first=days[1], before=days[0] + 1, limit=1)), None)


def page(session: Session, *, first: Day | None = None, before: Day | None = None, limit: int = 100) -> list[Issue]:
    """Return the issues from a day on, before another, newest first."""
    query = select(ISSUES).order_by(ISSUES.c.day.desc()).limit(limit)
    return read(session, Issue, narrowed(query, (ISSUES.c.day.__ge__, first), (ISSUES.c.day.__lt__, before)))


def basins_of(
    session: Session,
    of_day: Day,
    outcomes: Collection[Outcome] | None = None,
    version: str | None = None,
    huc: str | None = None,
    names: Collection[str] | None = None,
) -> list[IssueBasin]:
    """Return the basins of an issue in the order of their identifiers: with some outcomes, of a version or a region."""
    rows = ISSUE_BASINS.c
    query = select(ISSUE_BASINS).where(rows.day == of_day).order_by(rows.basin_id)
    if huc is not None:
        query = query.join(BASINS, BASINS.c.id == rows.basin_id).where(BASINS.c.huc.startswith(huc, autoescape=True))
    filters = (rows.outcome.in_, outcomes), (rows.version_id.__eq__, version), (rows.basin_id.in_, names)
    return read(session, IssueBasin, narrowed(query, *filters))
