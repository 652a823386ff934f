"""Gaps of a feed. Days without a value inside its records; they are found, requested again and reported.

Every usual fetch also requests the gaps of its basins, however old. Gaps that lie close together form one span. A fetch
requests at most MAX_SPANS spans: the newest ones each time, and of the older ones a few in turn by the day of the
clock. So a late day is requested until it arrives, and a day that never arrives costs little.
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
"""Known days between two gaps that are requested along with them: one request is cheaper than two."""
MAX_REPORTED = 20
"""Number of spans reported for a basin, the newest."""

ByVariable = Mapping[str, Days]
_ONE_DAY = np.timedelta64(1, "D")


def find(session: Session, feed: feeds.Feed, basins: Iterable[str], until: Day | None) -> dict[str, ByVariable]:
    """Return the gaps inside the records of basins, by basin and variable. Basins without gaps are left out.

    A feed of weather forecasts fills no record, so it has none.

    Args:
        until: the first day of a usual fetch: unknown days before it count as gaps; None: days after the last known day
            do not.
    """
    found: dict[str, ByVariable] = {}
    if not feed.read().fills_record:
        return found
    for basin in basins:
        product = feed.product or gauge_product(basin)
        try:
            stored = series.read_product(session, basin, product)
        except Problem:  # damaged years are reported elsewhere
            continue
        if feed.product is None:
            stored = {name: one for name, one in stored.items() if name == "discharge"}
        by_variable = {name: missing for name, one in stored.items() if len(missing := _missing(one, until))}
        if by_variable:
            found[basin] = by_variable
    return found


def spans_to_ask(found: Mapping[str, ByVariable], now: datetime) -> list[tuple[Period, list[str]]]:
    """Return the spans to request, each with the basins that have a gap in it."""
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
    """Return the spans of a basin's gaps, newest first, each with the variables missing throughout."""
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
    """Group ascending days into spans, joining gaps up to `joined` days, up to `longest_run` days each."""
    spans: list[Period] = []
    for at in map(day, days):
        if spans and int((at - spans[-1].last).astype(int)) <= joined + 1 and at < spans[-1].first + longest_run:
            spans[-1] = Period(spans[-1].first, at)
        else:
            spans.append(Period(at, at))
    return spans


def remarks(feed: str, fetched: Iterable[feeds.FetchedBasin]) -> list[str]:
    """Describe missing or doubtful data of a fetch, one sentence per finding, naming the basin."""
    result = []
    for one in fetched:
        result += [f"{one.basin_id}: {warning}" for warning in one.warnings]
        if one.holes:
            result.append(_sentence(one.basin_id, one.holes, feed))
    return result


def _sentence(basin: str, holes: Sequence[Hole], feed: str) -> str:
    """Describe a basin's gaps, with the command that requests the newest."""
    hole = holes[0]
    more = f", and {len(holes) - 1} older spans" if len(holes) > 1 else ""
    return (
        f"{basin} has no {', '.join(hole['variables'])} on {hole['first']} to {hole['last']}{more}, inside its record. "
        f"Ask for it: {feeds.fetch_command(feed, basin, hole['first'], hole['last'])}"
    )
