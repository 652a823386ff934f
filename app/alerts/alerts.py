"""/v1/alerts and /v1/basins/{basin}/alerts: the alerts of rivers, and of the levels of a basin."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.alerts.schemas import Alerts, BasinAlerts, answers_of, of_basin
from app.basins.queries import InRegion
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.conditional import SHORTLY
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from hydrology.alerts import SEVERITIES, Severity
from jobspec.fields import BASIN, form
from records.alerts import alerts
from records.basins.basins import UnknownBasin
from records.basins.regions import UnknownRegion

router = APIRouter(tags=["alerts"])

MinSeverity = Annotated[Severity, Query(description="Only alerts of at least this severity.")]
RiverCursor = Annotated[
    str | None,
    Query(
        description="Start after this basin and direction: the last ones of the page before.",
        pattern=form(f"^{BASIN}/(rising|falling)$", "a basin, a slash and a direction, such as USGS-13235000/rising"),
        examples=["USGS-13235000/rising"],
    ),
]


@router.get(
    "/alerts", summary="Current alerts of all basins", **documented_list(Alerts, UnknownRegion, cache_control=SHORTLY)
)
def list_alerts(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Listing, listing(Alerts, RiverCursor)],
    region: InRegion,
    least_severity: MinSeverity = SEVERITIES[0],
) -> Response:
    """One alert for each basin and direction in which flow is likely to pass a level, a page at a time: follow `next`
    until it is null. It is of the level that stands for the river; `levels` has the others. The newest forecast of a
    basin decides its alerts by its calibrated chance. Where it has none, the alerts stay as they were and the basin's
    own answer gives the reason."""
    basin, _, direction = (page.after or "").partition("/")
    cursor = (basin, direction) if page.after else None
    found = alerts.rivers(session, region=region, minimum=least_severity, after=cursor, limit=page.sought)
    return page.of(
        found,
        lambda shown: answers_of(session, shown, clock.today()),
        lambda alert: f"{alert.basin_id}/{alert.direction}",
    )


@router.get(
    "/basins/{basin}/alerts",
    summary="Current alerts of a basin, level by level",
    **documented_responses(BasinAlerts, UnknownBasin),
)
def read_alerts(session: Reading, clock: ServiceClock, basin: KnownBasin, answer: JsonAnswer) -> Response:
    """For every flood, low flow and user-defined level: the chance by the newest forecast, the severity and trend, and
    the numbers and the rule behind the decision. If the forecast is not calibrated, no alert begins or ends, and
    `reason` states it."""
    return answer.of(of_basin(session, basin, clock.today()))
