"""The overview of all basins: each with the few numbers that basins are ordered, filtered and coloured by."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from functools import cache
from typing import NamedTuple

from sqlalchemy import String, bindparam, case, func, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.alerts import SEVERITIES, Severity, rank
from hydrology.base.calendar import stale
from hydrology.base.errors import shown_part
from records.alerts.alerts import ALERTS
from records.basins import ownership
from records.basins.ownership import BASINS
from records.database.stored import where_keys
from records.forecasts import latest
from records.outlooks.flow_outlooks import OUTLOOKS
from records.outlooks.reader import State
from records.runs.run_store import LATEST
from records.runs.run_types import RUNS
from records.runs.tables import NEWEST_RUNS
from records.versions import promotions
from records.versions.promotions import PROMOTIONS


class BasinOverview(NamedTuple):
    """A basin and its latest forecast in a few numbers; None where not known.

    Attributes:
        version, run, t0: of the latest forecast.
        weather_age_days: age of the last past day of its weather.
        chance: the highest calibrated chance of passing a flood level; peak: m3/s.
        severity: the highest of its standing alerts.
        has_model: whether a version is current for it.
        nse: of the simulation of held-out days; None where it was not asked for.
    """

    id: str
    name: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    is_official: bool = True
    version: str | None = None
    run: str | None = None
    t0: str | None = None
    weather_age_days: int | None = None
    chance: float | None = None
    peak: float | None = None
    percent_of_normal: float | None = None
    snow_percent: float | None = None
    severity: Severity | None = None
    state: State = "missing"
    has_model: bool = True
    nse: float | None = None

    @property
    def title(self) -> str:
        return ownership.shown_name(self.id, self.name and shown_part(self.name))

    @property
    def us_state(self) -> str | None:
        return ownership.us_state(self.name) if self.name else None

    @property
    def concern(self) -> tuple[float, ...]:
        """Sort key: higher means more urgent; unofficial basins come after the others."""
        chance, flow = self.chance or 0.0, self.percent_of_normal or 0.0
        return (self.is_official, rank(self.severity), chance, self.t0 is None, self.state == "stale", flow)


_NUMBERS = (
    type_coerce(OUTLOOKS.c.weather_until, String),
    *(OUTLOOKS.c.chance, OUTLOOKS.c.peak, OUTLOOKS.c.percent_of_normal, OUTLOOKS.c.snow_percent),
)
_NEWEST = NEWEST_RUNS.c
_NAME = type_coerce(BASINS.c.name, String)
_SITE = BASINS.c.id, _NAME, BASINS.c.latitude, BASINS.c.longitude, BASINS.c.huc, ownership.is_official()
_FILLED = select(RUNS.c.filled_days).where(RUNS.c.id == _NEWEST.run_id).scalar_subquery()
_BASINS = (
    select(
        *(*_SITE, _NEWEST.version_id, _NEWEST.run_id, type_coerce(_NEWEST.t0, String), *_NUMBERS),
        _NEWEST.available_at <= bindparam("at"),
        case((OUTLOOKS.c.weather_until.is_(None), _FILLED), else_=0),  # of a run without an outlook alone
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
and names are as the driver reads them (days as dates from PostgreSQL, as texts from SQLite): to convert each would take
longer than to read it."""


def overview(session: Session, at: datetime) -> list[BasinOverview]:
    """Return every basin at an instant, by few statements over narrow rows: nothing packed is read."""
    found = dict[str, BasinOverview]()
    text = cache(str)  # days are few, basins many
    age_of = cache(lambda day: (at.date() - date.fromisoformat(text(day))).days)
    alerts = session.execute(select(ALERTS.c.basin_id, ALERTS.c.severity).where(ALERTS.c.severity.in_(SEVERITIES)))
    severity_of = dict(sorted(alerts.all(), key=lambda row: rank(row[1]))).get  # the highest of a basin is the last
    for row in session.execute(_BASINS, {"at": at}).all():
        id_, name, y, x, huc, official, version, run, t0, until, chance, peak, flow, snow, is_noted, filled = row
        if is_noted:
            age = age_of(until or t0) - filled
            state = "stale" if stale(age) else "fresh"
            numbers = (age, chance, peak, flow, snow, severity_of(id_), state, True, None)
            found[id_] = BasinOverview._make((id_, name, y, x, huc, bool(official), version, run, text(t0), *numbers))
        else:
            found[id_] = BasinOverview(id_, name, y, x, huc, bool(official), severity=severity_of(id_))
    lacking = [basin for basin in found.values() if basin.run is None]
    return [*(found | {basin.id: basin for basin in _searched(session, lacking, at, age_of)}).values()]


def _searched(
    session: Session, basins: Sequence[BasinOverview], at: datetime, age_of: Callable[[str], int]
) -> Iterator[BasinOverview]:
    """Yield basins without a latest forecast that is noted and available: they may have an earlier one."""
    if not basins:
        return
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
        until, chance, peak, flow, snow = numbers.get(basin.id, (None,) * len(_NUMBERS))
        age = age_of(str(until or run.t0))
        found = basin._replace(version=current.get(basin.id), run=run.run_id, t0=str(run.t0), weather_age_days=age)
        found = found._replace(chance=chance, peak=peak, percent_of_normal=flow, snow_percent=snow)
        yield found._replace(state="stale" if stale(age) else "fresh")


def renewed_at(session: Session, at: datetime) -> datetime | None:
    """Return when the last of the latest forecasts became available."""
    newest = select(func.max(_NEWEST.available_at)).where(_NEWEST.which == LATEST, _NEWEST.available_at <= at)
    found: datetime | None = session.scalar(newest)
    return found
