"""Gaps of a feed. Days without a value inside its records; they are found, requested again and reported.

Every usual fetch also requests the gaps of its basins, however old. Gaps that lie close together form one span. A fetch
requests at most MAX_SPANS spans: the newest ones each time, and of the older ones a few in turn by the day of the
clock. So a late day is requested until it arrives, and a day that never arrives costs little.

Where the source states when its record begins, the days from then or from the first one ever asked for are a gap, too,
if they did not come: the head. A head is one span whatever its length, and a fetch requests MAX_HEADS of them in turn.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period, day, days_between
from hydrology.base.products import DISCHARGE
from records.database.stored import grouped
from records.feeds import feeds
from records.feeds.feeds import Hole
from records.series import series

MAX_SPANS = 8
NEWEST_SPANS = 6
MAX_SPAN_DAYS = 31
JOINED_DAYS = 3
"""Known days between two gaps that are requested along with them: one request is cheaper than two."""
MAX_HEADS = 2
MAX_REPORTED = 20
"""Number of spans reported for a basin, the newest."""

ByVariable = Mapping[str, Days]
_ONE_DAY = np.timedelta64(1, "D")


def find(
    session: Session, feed: feeds.Feed, since: Mapping[str, Day | None], until: Day | None, ended: Day
) -> dict[str, ByVariable]:
    """Return the gaps inside the records of basins, by basin and variable. Basins without gaps are left out.

    Args:
        since: the first day of the record of each basin, where its source states it.
        until: the first day of a usual fetch: unknown days before it count as gaps; None: days after the last known day
            do not.
        ended: the last day that has ended; later days are in no record.
    """
    found: dict[str, ByVariable] = {}
    if feed.read().brings != "record":
        return found
    variables = [DISCHARGE] if feed.product is None else None
    for product, names in grouped((feed.product or gauge_product(basin), basin) for basin in since).items():
        for basin, stored in series.unknown_days(session, names, product, variables):  # damage is reported elsewhere
            first = since[basin]
            by_variable = {name: _missing(*one, first, until, ended) for name, one in stored.items()}
            if not stored and feed.product is None and first is not None and until is not None and first < until:
                by_variable = {DISCHARGE: Period(first, until - _ONE_DAY).days}
            if by_variable := {name: missing for name, missing in by_variable.items() if len(missing)}:
                found[basin] = by_variable
    return found


def without_heads(
    found: Mapping[str, ByVariable], since: Mapping[str, Day | None], now: datetime
) -> tuple[dict[str, ByVariable], list[tuple[Period, list[str]]]]:
    """Return the gaps but the heads, and the heads to request, each with its basins."""
    others, heads = dict(found), dict[tuple[Day, Day], list[str]]()
    for basin, by_variable in found.items():
        first = since.get(basin)
        for name, days in by_variable.items():
            if first is not None and len(days) and days[0] == first:
                count = _in_a_row(days, first)
                heads.setdefault((first, days[count - 1]), []).append(basin)
                others[basin] = {**others[basin], name: days[count:]}
    spans = sorted(heads)
    turn = now.toordinal() * MAX_HEADS
    chosen = sorted({(turn + at) % len(spans) for at in range(MAX_HEADS)}) if spans else []
    return others, [(Period(*spans[at]), [*dict.fromkeys(heads[spans[at]])]) for at in chosen]


def spans_to_ask(found: Mapping[str, ByVariable], now: datetime) -> list[tuple[Period, list[str]]]:
    """Return the spans to request, each with the basins that have a gap in it."""
    days = {basin: np.unique(np.concatenate([*by_variable.values()])) for basin, by_variable in found.items()}
    days = {basin: of_basin for basin, of_basin in days.items() if len(of_basin)}
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
    """Return the newest spans of a basin's gaps and the longest, each with the variables missing throughout."""
    variables: dict[tuple[str, str], list[str]] = {}
    for name, days in sorted(by_variable.items()):
        for span in _spans(days, 0, len(days)):
            variables.setdefault((str(span.first), str(span.last)), []).append(name)
    spans = sorted(variables, key=lambda ends: ends[::-1], reverse=True)
    longest = max(spans, key=lambda ends: days_between(day(ends[0]), day(ends[1])), default=None)
    newest = spans[:MAX_REPORTED]
    if longest not in newest:
        newest[-1:] = [longest] if longest else []
    return [Hole(first=first, last=last, variables=variables[first, last]) for first, last in newest]


def _missing(stored: Period, unknown: Days, since: Day | None, until: Day | None, ended: Day) -> Days:
    unknown, last = unknown[unknown <= ended], min(stored.last, ended)
    first = stored.first + _in_a_row(unknown, stored.first)
    last -= _in_a_row(unknown[::-1], last, -1)
    if first > last:
        return unknown[:0]
    head = np.arange(first if since is None else min(since, first), first)
    tail = np.arange(last + _ONE_DAY, last + _ONE_DAY if until is None else max(last + _ONE_DAY, until))
    return np.concatenate([head, unknown[(unknown > first) & (unknown < last)], tail])


def _in_a_row(days: Days, first: Day, step: int = 1) -> int:
    """Return how many days follow one another from a first one on."""
    return int(np.cumprod(days == first + step * np.arange(len(days))).sum())


def _spans(days: Days, joined: int, longest_run: int) -> list[Period]:
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
        for hole in one.holes[:1]:
            more = f", and {len(one.holes) - 1} older spans" if len(one.holes) > 1 else ""
            days, variables = (hole["first"], hole["last"]), ", ".join(hole["variables"])
            result.append(
                f"{one.basin_id} has no {variables} on {' to '.join(days)}{more}, inside its record. "
                f"Ask for it: {feeds.fetch_command(feed, one.basin_id, *days)}"
            )
    return result
