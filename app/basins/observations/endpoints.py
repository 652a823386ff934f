"""/v1/basins/{basin}/observations"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.basins.observations import service, table
from app.basins.observations.schemas import Observations
from app.basins.observations.service import MAX_DAYS, USUAL_DAYS, SeriesRequest
from app.exports.answers import exported
from app.exports.formats import JSON, SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.exports.table import Table
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch, entity_tag, not_modified
from app.http.dependencies import BasinId, KnownAt, Reading
from app.http.discharge_units import AreaName
from app.http.problems import documented
from hydrology.base.units import STANDARD, ObservedUnits
from jobspec.fields import NAME, DayField
from records.basins.basins import UnknownArea, UnknownBasin, sites
from records.series.series import NoObservations

router = APIRouter(prefix="/basins", tags=["observations"])

Product = Annotated[
    str,
    Query(
        description="The source of the series: a weather product (`maurer_extended`, `daymet`, `nldas`), `usgs` for "
        "gauged discharge, `uaz` or `snodas` for snow. `/v1/basins/{basin}` lists the stored ones.",
        pattern=f"^{NAME}$",
        examples=["usgs"],
    ),
]
Variable = Annotated[
    str | None,
    Query(description="One variable; by default all of the product.", pattern=f"^{NAME}$", examples=["discharge"]),
]
Start = Annotated[
    DayField | None,
    Query(
        description=f"The first day; by default {USUAL_DAYS} days before the last, or where the series begin.",
        examples=["2008-04-01"],
    ),
]
End = Annotated[
    DayField | None,
    Query(description="The last day (included); by default the last stored one.", examples=["2008-07-31"]),
]
DischargeUnits = Annotated[
    ObservedUnits | None,
    Query(
        description=f"The unit of discharge, by default `{STANDARD}`; `source`: the stored unit (`cfs` of USGS gauges)."
    ),
]


@router.get(
    "/{basin}/observations",
    summary="Observed discharge, weather and snow of a basin",
    description="The daily series of a product, every day of the period: a day without a value is null, and its flags "
    f"give the reason. One answer holds at most {MAX_DAYS} days; a longer period is refused. With "
    "`known_at` revised values appear as they were at that instant, and later data are absent.",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoObservations, UnknownArea) | documented_formats(*SERIES),
    response_model=Observations,
)
def read_observations(
    session: Reading,
    response: Response,
    basin: BasinId,
    product: Product,
    chosen: SeriesFormat,
    variable: Variable = None,
    start: Start = None,
    end: End = None,
    units: DischargeUnits = None,
    area: AreaName = None,
    known_at: KnownAt = None,
    if_none_match: IfNoneMatch = None,
) -> Observations | Response:
    part = service.part(
        session,
        basin,
        SeriesRequest(
            product=product, variable=variable, start=start, end=end, units=units, area=area, known_at=known_at
        ),
    )
    tag = service.tag_of(session, part)
    if chosen is JSON:
        return not_modified(response, tag, SHORTLY, if_none_match) or service.answer(session, part)
    places = sites(session, [basin])

    def build_table() -> Table:
        return table.of_observations(service.answer(session, part), places)

    return exported(chosen, entity_tag(tag, places), if_none_match, build_table)
