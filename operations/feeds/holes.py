"""Holes of a feed: days inside its records that have no value. They are found, asked for again and reported.

Every usual fetch asks for the holes of its basins too, however old. Days that lie close together are one span, and a
fetch asks for at most MAX_SPANS: the newest ones each time, and of the older ones a few in turn by the day of the
clock. So a day that a service gives late is asked for until it comes, and one that it never gives costs little.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period, day
from hydrology.base.errors import Problem
from hydrology.base.series import DailySeries
from records.series import series
from records.weather import feeds
from records.weather.feeds import Hole

MAX_SPANS = 8
NEWEST_SPANS = 6
MAX_SPAN_DAYS = 31
JOINED_DAYS = 3
"""Known days between two holes that are asked for with them, for one request is cheaper than two."""
MAX_REPORTED = 20
"""Spans of a basin that are reported, the newest."""

ByVariable = Mapping[str, Days]
_ONE_DAY = np.timedelta64(1, "D")


def find(session: Session, feed: feeds.Feed, basins: Iterable[str], until: Day | None) -> dict[str, ByVariable]:
    """Return the days without a value inside the records of basins, by basin and variable; none where there is none.

    Args:
        until: the first day that a usual fetch asks for: what is not known before it counts as inside; None: nothing
            after the last known day does.
    """
    found: dict[str, ByVariable] = {}
    for basin in basins:
        product = feed.product or gauge_product(basin)
        try:
            stored = series.read_product(session, basin, product)
        except Problem:  # a damaged year is reported by itself
            continue
        if feed.product is None:
            stored = {name: one for name, one in stored.items() if name == "discharge"}
        by_variable = {name: missing for name, one in stored.items() if len(missing := _missing(one, until))}
        if by_variable:
            found[basin] = by_variable
    return found


def spans_to_ask(found: Mapping[str, ByVariable], now: datetime) -> list[tuple[Period, list[str]]]:
    """Return the spans that a fetch asks for, each with the basins that have a hole in it."""
    days = {basin: np.unique(np.concatenate([*by_variable.values()])) for basin, by_variable in found.items()}
    if not days:
        return []
    spans = _spans(np.unique(np.concatenate([*days.values()])), JOINED_DAYS, MAX_SPAN_DAYS)
    newest, older = spans[-NEWEST_SPANS:], spans[:-NEWEST_SPANS]
    turn = now.toordinal() * (MAX_SPANS - NEWEST_SPANS)
    chosen = {(turn + at) % len(older) for at in range(MAX_SPANS - NEWEST_SPANS)} if older else set()
    asked = [older[at] for at in sorted(chosen)] + newest
    return [
        (span, [basin for basin, at in days.items() if ((at >= span.first) & (at <= span.last)).any()])
        for span in reversed(asked)
    ]


def reported(by_variable: ByVariable) -> list[Hole]:
    """Return the spans of a basin's holes, the newest first, each with the variables that lack all its days."""
    variables: dict[tuple[str, str], list[str]] = {}
    for name, days in sorted(by_variable.items()):
        for span in _spans(days, 0, len(days)):
            variables.setdefault((str(span.first), str(span.last)), []).append(name)
    newest = sorted(variables, key=lambda ends: ends[::-1], reverse=True)[:MAX_REPORTED]
    return [Hole(first=first, last=last, variables=variables[first, last]) for first, last in newest]


def _missing(one: DailySeries, until: Day | None) -> Days:
    known = np.flatnonzero(~np.isnan(one.values))
    if not len(known):
        return one.days[:0]
    last = one.days[known[-1]] if until is None else max(one.days[known[-1]], until - _ONE_DAY)
    record = one.over(Period(one.days[known[0]], last))
    return record.days[np.isnan(record.values)]


def _spans(days: Days, joined: int, longest_run: int) -> list[Period]:
    """Return ascending days as spans, over gaps of so many days, none longer than so many."""
    spans: list[Period] = []
    for at in map(day, days):
        if spans and int((at - spans[-1].last).astype(int)) <= joined + 1 and at < spans[-1].first + longest_run:
            spans[-1] = Period(spans[-1].first, at)
        else:
            spans.append(Period(at, at))
    return spans


def remarks(feed: str, fetched: Iterable[feeds.FetchedBasin]) -> list[str]:
    """Return what is missing or doubtful in what a feed brought, in sentences that name the basin."""
    result = []
    for one in fetched:
        result += [f"{one.basin_id}: {warning}" for warning in one.warnings]
        if one.holes:
            result.append(_sentence(one.basin_id, one.holes, feed))
    return result


def _sentence(basin: str, holes: Sequence[Hole], feed: str) -> str:
    """Return what a basin lacks inside its record, with the command that asks for the newest of it."""
    hole = holes[0]
    more = f", and {len(holes) - 1} older spans" if len(holes) > 1 else ""
    return (
        f"{basin} has no {', '.join(hole['variables'])} on {hole['first']} to {hole['last']}{more}, inside its record. "
        f"Ask for it: {feeds.fetch_command(feed, basin, hole['first'], hole['last'])}"
    )
