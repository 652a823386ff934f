"""The overview of all basins: each with the few numbers that basins are ordered, filtered and coloured by."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import String, bindparam, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.alerts import SEVERITIES, Severity, rank
from hydrology.base.calendar import STALE_AFTER_DAYS
from records.alerts.alerts import ALERTS
from records.basins import ownership
from records.basins.ownership import BASINS
from records.database.stored import where_keys
from records.forecasts import latest
from records.outlooks.flow_outlooks import OUTLOOKS
from records.outlooks.reader import State
from records.runs.run_store import LATEST
from records.runs.tables import NEWEST_RUNS
from records.versions import promotions
from records.versions.promotions import PROMOTIONS


class BasinOverview(NamedTuple):
    """A basin and its latest forecast in a few numbers; None where not known.

    Attributes:
        weather_until: the last past day of the forecast.
        chance: the highest calibrated chance of passing a flood level; peak: m3/s.
        severity: the highest of its standing alerts.
    """

    id: str
    name: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    is_official: bool = True
    run: str | None = None
    t0: str | None = None
    weather_until: str | None = None
    chance: float | None = None
    peak: float | None = None
    percent_of_normal: float | None = None
    snow_percent: float | None = None
    severity: Severity | None = None
    state: State = "missing"
    has_model: bool = True


_NUMBERS = (
    type_coerce(OUTLOOKS.c.weather_until, String),
    *(OUTLOOKS.c.chance, OUTLOOKS.c.peak, OUTLOOKS.c.percent_of_normal, OUTLOOKS.c.snow_percent),
)
_NEWEST = NEWEST_RUNS.c
_BASINS = (
    select(
        *(BASINS.c.id, BASINS.c.name, BASINS.c.latitude, BASINS.c.longitude, BASINS.c.huc, ownership.is_official()),
        *(_NEWEST.run_id, type_coerce(_NEWEST.t0, String), *_NUMBERS, _NEWEST.available_at <= bindparam("at")),
    )
    .outerjoin_from(BASINS, PROMOTIONS, PROMOTIONS.c.basin_id == BASINS.c.id)
    .outerjoin(
        NEWEST_RUNS,
        (_NEWEST.version_id == PROMOTIONS.c.version_id) & (_NEWEST.basin_id == BASINS.c.id) & (_NEWEST.which == LATEST),
    )
    .outerjoin(OUTLOOKS, (OUTLOOKS.c.run_id == _NEWEST.run_id) & (OUTLOOKS.c.basin_id == BASINS.c.id))
    .order_by(_NEWEST.run_id.is_not(None), PROMOTIONS.c.id)
)
"""The last row of a basin is of its last promoted version that has issued a forecast (`records.forecasts.latest`). Days
are texts: to convert them would take longer than to read them."""


def overview(session: Session, at: datetime) -> list[BasinOverview]:
    """Return every basin at an instant, by few statements over narrow rows: nothing packed is read."""
    fresh_from, severities = str(at.date() - timedelta(days=STALE_AFTER_DAYS)), _severities(session)
    rows = {row[0]: row for row in session.execute(_BASINS, {"at": at})}
    found, lacking = list[BasinOverview](), list[BasinOverview]()
    for id_, name, north, east, huc, official, run, t0, until, chance, peak, flow, snow, is_available in rows.values():
        site, severity = (id_, name, north, east, huc, bool(official)), severities.get(id_)
        if is_available:
            last = str(until or t0)
            state: State = "stale" if last < fresh_from else "fresh"
            found.append(BasinOverview(*site, run, str(t0), last, chance, peak, flow, snow, severity, state))
        else:
            lacking.append(BasinOverview(*site, severity=severity))
    return [*found, *_searched(session, lacking, at, fresh_from)] if lacking else found


def _searched(
    session: Session, basins: Sequence[BasinOverview], at: datetime, fresh_from: str
) -> Iterator[BasinOverview]:
    """Yield basins without a latest forecast that is noted and available: they may have an earlier one."""
    names = [basin.id for basin in basins]
    issued, tried = latest.newest_noted(session, names, at)
    current = promotions.current(session, names)
    key = OUTLOOKS.c.run_id, OUTLOOKS.c.basin_id
    query = where_keys(select(*key, *_NUMBERS), key, [(one.run_id, basin) for basin, one in issued.items()])
    numbers = {basin: row for _, basin, *row in session.execute(query)}
    for basin in basins:
        if (run := issued.get(basin.id)) is None:
            state: State = "withheld" if basin.id in tried else "missing"
            yield basin._replace(state=state, has_model=basin.id in current)
            continue
        t0 = str(run.t0)
        until, chance, peak, flow, snow = numbers.get(basin.id, (None,) * len(_NUMBERS))
        found = basin._replace(run=run.run_id, t0=t0, weather_until=str(until or t0), chance=chance, peak=peak)
        state = "stale" if str(until or t0) < fresh_from else "fresh"
        yield found._replace(percent_of_normal=flow, snow_percent=snow, state=state)


def _severities(session: Session) -> dict[str, Severity]:
    """Return the highest severity of each basin with a standing alert."""
    rows = session.execute(select(ALERTS.c.basin_id, ALERTS.c.severity).where(ALERTS.c.severity.in_(SEVERITIES)))
    return dict(sorted(((basin, severity) for basin, severity in rows), key=lambda row: rank(row[1])))
