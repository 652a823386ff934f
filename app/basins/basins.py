"""/v1/basins: metadata of basins, their stored data and current status."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.basins.queries import BasinCursor, InPlace, Text
from app.basins.schemas import BasinDetail, BasinPage, BasinSummary, basin_detail, basin_summaries
from app.exports.answers import JsonAnswer, PlaceAnswer, PlaceFormat, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.exports.formats import JSON, PLACES
from app.exports.table import table_of
from app.http.base_schema import Model, Series
from app.http.dependencies import BasinId, Page, Reading, ServiceClock
from app.http.json_numbers import rounded
from app.http.problems import refused
from hydrology.base.absent import known, text
from hydrology.base.calendar import age_days, as_date
from hydrology.extremes.return_periods import Bound
from records.basins import basins
from records.basins.regions import UnknownRegion
from records.outlooks import reader

router = APIRouter(prefix="/basins", tags=["basins"])

A_PAGE, MAX_BASINS = 100, 1000
Limit = Annotated[
    int | None,
    Query(
        description=f"Maximum number of basins a page; by default {A_PAGE} in JSON and {MAX_BASINS} in a file.",
        ge=1,
        le=MAX_BASINS,
    ),
]


class BasinRow(Model):
    """A basin in a file, with its latest forecast and its alerts."""

    basin: Annotated[str, Series("identifier of the basin")]
    name: Annotated[str | None, Series("name of the basin")]
    latitude: Annotated[float | None, Series("latitude of the gauge", "degrees_north")]
    longitude: Annotated[float | None, Series("longitude of the gauge", "degrees_east")]
    kind: Annotated[str, Series("what the basin is")]
    huc: Annotated[str | None, Series("hydrologic unit code")]
    area: Annotated[float | None, Series("drainage area that converts flow", "km2")]
    area_source: Annotated[str | None, Series("source of the area")]
    run: Annotated[str | None, Series("identifier of the latest forecast's run")] = None
    version: Annotated[str | None, Series("identifier of its model version")] = None
    awaited_version: Annotated[str | None, Series("promoted version that has issued no forecast yet")] = None
    t0: Annotated[date | None, Series("last day of weather in the initial state")] = None
    issued_at: Annotated[datetime | None, Series("when it was issued")] = None
    age_days: Annotated[int | None, Series("days that t0 lies behind the service's clock")] = None
    stale: Annotated[bool | None, Series("whether a newer forecast is overdue")] = None
    peak: Annotated[
        float | None, Series("highest of the days ahead, the median over its paths; none where flow falls", "m3/s")
    ] = None
    peak_day: Annotated[date | None, Series("that day")] = None
    peak_return_period_years: Annotated[
        float | None, Series("return period of that height, at most twice the record's length", "years")
    ] = None
    peak_return_period_bound: Annotated[
        Bound | None, Series("whether it is `more` or `less` than that number; none where it is the number")
    ] = None
    alert: Annotated[str | None, Series("highest severity of the basin's alerts")] = None
    reason: Annotated[str | None, Series("why there is no forecast")] = None


class BasinRows(Model):
    """Basins in a file."""

    basins: Annotated[list[BasinRow], Series("")]


def _row(basin: BasinSummary, outlook: reader.Outlook) -> BasinRow:
    place = {name: getattr(basin, name) for name in ("name", "latitude", "longitude", "kind", "huc")}
    place |= {"basin": basin.id, "area": basin.area and basin.area.km2, "area_source": basin.area and basin.area.name}
    alert = None if outlook.alert is None else outlook.alert.alert.severity
    if outlook.forecast is None:
        return BasinRow(**place, alert=alert, reason=text(outlook.freshness.reason))
    run, flow, period = outlook.forecast.run, outlook.peak_m3s, known(outlook.peak_return_period)
    return BasinRow(
        **place,
        run=run.id,
        version=run.version_id,
        awaited_version=outlook.freshness.awaited,
        t0=as_date(run.t0),
        issued_at=run.issued_at,
        age_days=age_days(run.t0, outlook.at),
        stale=outlook.freshness.state == "stale",
        peak=None if flow is None else rounded(flow),
        peak_day=outlook.peak_day,
        peak_return_period_years=None if period is None else rounded(period.years),
        peak_return_period_bound=None if period is None else period.bound,
        alert=alert,
    )


async def _page(
    request: Request, response: Response, chosen: PlaceFormat, after: BasinCursor = None, limit: Limit = None
) -> Page:
    return Page(request, response, after, limit or (A_PAGE if chosen is JSON else MAX_BASINS))


@router.get("", summary="List basins", **documented_responses(schema_of(BasinPage), UnknownRegion, formats=PLACES))
def list_basins(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Page, Depends(_page)],
    answer: PlaceAnswer,
    fields: Annotated[FieldFilter, fields_of(BasinPage)],
    place: InPlace,
    q: Text = None,
) -> Response:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null. A file also contains
    the latest forecast and alert status of each basin. If there are more basins, the file's `Link` header names the
    next page."""
    rows = basins.list_basins(session, text=q, **place.filters, after=page.after, limit=page.sought)
    stored, following = page.cut(rows)
    shown = BasinPage(basins=basin_summaries(session, stored), next=following)
    if answer.chosen is JSON:
        return answer.of(shown, body=fields.body)
    if fields.include is not None:
        raise refused("fields", "a file has all its columns: leave it out, or ask for JSON.")
    outlooks = reader.outlooks(session, [basin.id for basin in stored], clock.now())
    in_file = BasinRows(basins=[_row(basin, outlooks[basin.id]) for basin in shown.basins])
    of_page = table_of(in_file, "basins", "Basins")
    return answer.file(of_page.tag, lambda: of_page)


@router.get(
    "/{basin}",
    summary="Metadata, stored series and data quality of a basin",
    **documented_responses(BasinDetail, basins.UnknownBasin),
)
def read_basin(session: Reading, basin: BasinId, answer: JsonAnswer) -> Response:
    """Location, drainage areas (km²), attributes, the stored daily series, the model version behind its forecasts, and
    the data quality findings."""
    return answer.of(basin_detail(session, basin))
