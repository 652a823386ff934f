"""/v1/alerts and /v1/basins/{basin}/alerts"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.alerts import service
from app.alerts.schemas import AlertChanges, Alerts, BasinAlerts
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch, tagged
from app.http.dependencies import BasinId, PageLimit, Reading
from app.http.pagination import next_page
from app.http.problems import documented
from app.service.audit import After
from hydrology.extremes.alerting import SEVERITIES, Severity
from jobspec.fields import BASIN, NAME
from records.alerts import alert_changes, alerts
from records.basins import basins
from records.basins.basins import UnknownBasin

router = APIRouter(tags=["alerts"])

MinSeverity = Annotated[Severity, Query(description="Only alerts of at least this severity.")]
AlertCursor = Annotated[
    str | None,
    Query(
        description="Start after this basin and level: the last ones of the page before.",
        pattern=f"^{BASIN}/{NAME}$",
        examples=["USGS-13235000/gev-5"],
    ),
]


@router.get("/alerts", summary="Current alerts of all basins", responses=documented())
def list_alerts(
    request: Request,
    response: Response,
    session: Reading,
    least_severity: MinSeverity = SEVERITIES[0],
    after: AlertCursor = None,
    limit: PageLimit = 100,
) -> Alerts:
    """The levels of all basins that have an alert, a page at a time: follow `next` until it is null. The newest
    forecast of a basin decides its alerts by its calibrated chance. Where it has none, the alerts stay as they were and
    the basin's own answer gives the reason."""
    basin, _, level = (after or "").partition("/")
    cursor = (basin, level) if after else None
    found = alerts.active(session, minimum=least_severity, after=cursor, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    response.headers["Cache-Control"] = SHORTLY
    last = f"{shown[-1].basin_id}/{shown[-1].level}" if more else None
    following = next_page(request, response, {"least_severity": least_severity, "limit": limit}, last)
    return Alerts(alerts=[service.answer(alert) for alert in shown], next=following)


@router.get(
    "/basins/{basin}/alerts",
    summary="Current alerts of a basin, level by level",
    responses=NOT_MODIFIED | documented(UnknownBasin),
    response_model=BasinAlerts,
)
def read_alerts(
    session: Reading, response: Response, basin: BasinId, if_none_match: IfNoneMatch = None
) -> BasinAlerts | Response:
    """For every flood, low flow and user-defined level: the chance by the newest forecast, the severity and trend, and
    the numbers and the rule behind the decision. If the forecast is not calibrated, no alert begins or ends, and
    `reason` states it."""
    return tagged(service.of_basin(session, basin), response, if_none_match, SHORTLY)


@router.get(
    "/basins/{basin}/alerts/changes",
    summary="Alert history of a basin",
    responses=documented(UnknownBasin),
)
def list_alert_changes(
    request: Request, response: Response, session: Reading, basin: BasinId, after: After = None, limit: PageLimit = 100
) -> AlertChanges:
    """Every change, newest first, with the run behind it, as sent to receivers. A promotion of another model
    version is a change of its own. Follow `next` until it is null."""
    basins.require(session, basin)
    found = alert_changes.page(session, basin=basin, before=after, limit=limit + 1)
    response.headers["Cache-Control"] = SHORTLY
    last = str(found[limit - 1].seq) if len(found) > limit else None
    following = next_page(request, response, {"limit": limit}, last)
    return AlertChanges(changes=[service.change(one) for one in found[:limit]], next=following)
