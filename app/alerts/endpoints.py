"""/v1/alerts and /v1/basins/{basin}/alerts"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.alerts import service
from app.alerts.schemas import AlertChanges, Alerts, BasinAlerts
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.conditional import SHORTLY, cached
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from app.http.pagination import NumberPage, Page, paged
from app.http.problems import documented
from hydrology.extremes.alerting import SEVERITIES, Severity
from jobspec.faults import form
from jobspec.fields import BASIN
from records.alerts import alert_changes, alerts
from records.basins.basins import UnknownBasin

router = APIRouter(tags=["alerts"])

MinSeverity = Annotated[Severity, Query(description="Only alerts of at least this severity.")]
AlertPage = Annotated[
    Page,
    paged(
        Annotated[
            str | None,
            Query(
                description="Start after this basin and direction: the last ones of the page before.",
                pattern=form(
                    f"^{BASIN}/(rising|falling)$", "a basin, a slash and a direction, such as USGS-13235000/rising"
                ),
                examples=["USGS-13235000/rising"],
            ),
        ]
    ),
]


@router.get(
    "/alerts",
    summary="Current alerts of all basins",
    response_model=schema_of(Alerts),
    responses=documented(),
    dependencies=[cached(SHORTLY)],
)
def list_alerts(
    session: Reading,
    clock: ServiceClock,
    page: AlertPage,
    fields: Annotated[FieldFilter, fields_of(Alerts)],
    least_severity: MinSeverity = SEVERITIES[0],
) -> Response:
    """One alert for each basin and direction in which flow is likely to pass a level, a page at a time: follow `next`
    until it is null. It is of the level that stands for the river; `levels` has the others. The newest forecast of a
    basin decides its alerts by its calibrated chance. Where it has none, the alerts stay as they were and the basin's
    own answer gives the reason."""
    basin, _, direction = (page.after or "").partition("/")
    cursor = (basin, direction) if page.after else None
    found = alerts.rivers(session, minimum=least_severity, after=cursor, limit=page.sought)
    shown, following = page.cut(found, lambda alert: f"{alert.basin_id}/{alert.direction}")
    return fields.of(Alerts(alerts=service.answers_of(session, shown, clock.today()), next=following))


@router.get(
    "/basins/{basin}/alerts",
    summary="Current alerts of a basin, level by level",
    **documented_responses(BasinAlerts, UnknownBasin),
)
def read_alerts(session: Reading, clock: ServiceClock, basin: KnownBasin, answer: JsonAnswer) -> Response:
    """For every flood, low flow and user-defined level: the chance by the newest forecast, the severity and trend, and
    the numbers and the rule behind the decision. If the forecast is not calibrated, no alert begins or ends, and
    `reason` states it."""
    return answer.of(service.of_basin(session, basin, clock.today()))


@router.get(
    "/basins/{basin}/alerts/changes",
    summary="Alert history of a basin",
    response_model=schema_of(AlertChanges),
    responses=documented(UnknownBasin),
    dependencies=[cached(SHORTLY)],
)
def list_alert_changes(
    session: Reading, basin: KnownBasin, page: NumberPage, fields: Annotated[FieldFilter, fields_of(AlertChanges)]
) -> Response:
    """Every change of a level, newest first, with the run behind it. What a run changes at a river is one message to
    receivers (`message`). A promotion of another model version is a change of its own. Follow `next` until it is
    null."""
    found = alert_changes.page(session, basins=[basin], before=page.after, limit=page.sought)
    shown, following = page.cut(found, lambda change: change.seq)
    return fields.of(AlertChanges(changes=[service.change(one) for one in shown], next=following))
