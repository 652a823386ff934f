"""Updates of latest forecasts by flow that was measured within one of their days."""

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from hydrology.base.basins import TIME_ZONE
from hydrology.base.calendar import begin_of, day, days_between, zone, zone_of_longitude
from hydrology.base.errors import InvalidInput
from hydrology.base.units import NoArea, to_mm_per_day
from hydrology.uncertainty.within_day import moves
from records.access.audit import Actor
from records.basins import basins
from records.database.checksums import new_id
from records.database.stored import add_all, as_values
from records.forecasts import latest
from records.outlooks import outlooks
from records.outlooks.flow_outlooks import ARRAYS, flow_before
from records.runs import runs
from records.runs.tables import ADJUSTMENTS, Adjustment

MAX_AGE = timedelta(hours=24)
MAX_FACTOR = 20.0
"""Factor of the highest flow that a forecast has for a day, above which a measured one is taken for another unit's."""
SERVICE = "service"


class NotUpdatable(InvalidInput):
    """The flow cannot update the latest forecast of the basin."""

    remedy = "Give a flow of the last day, in m³/s, that is newer than the last one, of a basin with a forecast of it."


def update(
    session: Session, basin: str, measured_at: datetime, flow_m3s: float, by: Actor, now: datetime
) -> tuple[Adjustment, bool]:
    """Update the latest forecast of a basin by a measured flow, m3/s; return what now stands, and whether it is new.

    A flow that is not newer than that of the last update changes nothing, nor does any where a forecaster has published
    an adjustment: that stays. Alerts are decided by the next issue.
    """
    basins.lock(session, basin)
    newest = latest.latest(session, basin, now)
    run, of_basin = newest.run, newest.basin
    standing = latest.published_adjustments(session, [(run.id, basin)]).get((run.id, basin))
    if standing is not None and (standing.measured_at is None or standing.measured_at >= measured_at):
        return standing, False
    if not timedelta(0) <= now - measured_at <= MAX_AGE:
        raise NotUpdatable(f"The flow of {measured_at.isoformat()} is not of the last 24 hours, by the clock.")
    measured_at, site = measured_at.astimezone(UTC), basins.get(session, basin)
    there = site.texts.get(TIME_ZONE) or zone_of_longitude(site.longitude or 0)
    of_day = day(measured_at.astimezone(zone(there)).date())
    begin, end = (begin_of(of_day + ahead, there).astimezone(UTC) for ahead in (0, 1))
    at, fraction = days_between(run.t0, of_day) - 1, (measured_at - begin) / (end - begin)
    series = runs.series_of(session, run.id, basin, ARRAYS)
    flow = runs.calibrated_flow(series)
    if flow is None or not run.filled_days <= at < run.horizon_days:
        raise NotUpdatable(f"Run {run.id} of {basin} is not calibrated, or {of_day} is not one of its days ahead.")
    if of_basin.area is None:
        raise NoArea(f"Run {run.id} names no area of {basin}.")
    measured = float(to_mm_per_day(flow_m3s, unit="m3/s", area=of_basin.area))
    if not 0 <= measured <= MAX_FACTOR * max(float(flow.quantiles[:, at].max()), 1.0):
        raise NotUpdatable(f"{flow_m3s:g} m³/s is below 0, or over {MAX_FACTOR:g} times what the run has.")
    before = flow_before(run, of_basin, series, ("calibrated", flow))
    moved = moves(flow.paths, float(flow.median[0]) if before is None else before, at, fraction, measured)
    new = Adjustment(
        id=new_id(now),
        run_id=run.id,
        basin_id=basin,
        factor=1.0,
        shift_days=0,
        chances={},
        words=f"Updated with the flow of {measured_at:%H:%M} UTC, {flow_m3s:.3g} m³/s.",
        author=by.name,
        key_id=by.key_id or SERVICE,
        created_at=now,
        published_at=now,
        publisher=SERVICE,
        alerts_at=now,
        measured_at=measured_at,
        measured_m3s=flow_m3s,
        moves=moved.tolist(),
    )
    if standing is not None:
        session.execute(ADJUSTMENTS.delete().where(ADJUSTMENTS.c.id == standing.id))
    add_all(session, Adjustment, [as_values(new)])
    outlooks.renew_run(session, run.id, basin)
    return new, True
