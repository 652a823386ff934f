"""/v1/regions: basins by a rule, which keys, lists and subscriptions are bound to; /regions: the page."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.http.api_keys import AdminWriter, KeyFirstRoute
from app.http.base_schema import Model
from app.http.dependencies import Reading
from app.http.problems import documented_writing
from app.http.shown import As, model_of
from app.pages.render import PageRoute, render
from extensions.regions import storing
from extensions.regions.storing import NewRegion, RegionInUse
from jobspec.fields import NAMED
from records.basins import regions
from records.basins.regions import Region, UnknownRegion

router = APIRouter(prefix="/regions", tags=["regions"], route_class=KeyFirstRoute)
pages = APIRouter(route_class=PageRoute)

RegionName = Annotated[str, Path(description="A region's name.", pattern=NAMED, examples=["columbia"])]
_STORED = As("StoredRegion", missing=True)


class RegionDetail(model_of(Region, _STORED)):  # type: ignore[misc]
    """A region, and how many of its basins are stored."""

    stored_basins: int = Field(description="Number of its basins that are stored.")


class RegionList(Model):
    """All regions, by name."""

    regions: list[RegionDetail]


@router.get("", summary="List regions", **documented_responses(RegionList))
def read_regions(session: Reading, answer: JsonAnswer) -> Response:
    """Each has its basins by a rule: the beginning of their hydrologic unit codes, an agency's, or a list. Lists of
    basins, outlooks, forecasts and alerts, feeds and pages take `region`, and subscriptions have one. A key for a
    region (`freshet keys make NAME --region REGION`) changes nothing outside it."""
    return answer.of(all_regions(session))


def all_regions(session: Session) -> RegionList:
    return RegionList(regions=[region_detail(session, one) for one in regions.list_regions(session)])


@router.get("/{region}", summary="Read a region", **documented_responses(RegionDetail, UnknownRegion))
def read_region(session: Reading, region: RegionName, answer: JsonAnswer) -> Response:
    """Its rule, its limits, and how many of its basins are stored. Of a list, those that are not stored are shown to
    administrators alone."""
    return answer.of(region_detail(session, regions.get(session, region)))


def region_detail(session: Session, region: Region) -> RegionDetail:
    """Return a region as a transaction may see it: one of the public sees only basins that it can read."""
    known = list(session.scalars(regions.members(region.id)))
    if region.basins is not None and session.info["public"]:
        region = replace(region, basins=[basin for basin in region.basins if basin in known])
    return RegionDetail(**_STORED.values(region), stored_basins=len(known))


@router.put("/{region}", summary="Set a region", responses=documented_writing())
def put_region(writer: AdminWriter, region: RegionName, new: NewRegion) -> RegionDetail:
    """Its rule and its limits, in the place of those that it had: what its keys may change, and what its subscriptions
    get, follows at once. With an admin's key. The same again changes nothing."""
    with writer.database.transaction() as session:
        stored = storing.put(session, region, new)
        writer.record(session, "region set", region, **new.model_dump(exclude_none=True))
        return region_detail(session, stored)


@router.delete(
    "/{region}", status_code=204, summary="Remove a region", responses=documented_writing(UnknownRegion, RegionInUse)
)
def delete_region(writer: AdminWriter, region: RegionName) -> None:
    """Its basins stay. It is refused while a valid key or a subscription is of it. With an admin's key."""
    with writer.database.transaction() as session:
        storing.remove(session, region, writer.now)
        writer.record(session, "region removed", region)


@pages.get("/regions", response_class=HTMLResponse)
def read_regions_page(request: Request, session: Reading) -> HTMLResponse:
    """Show the regions, with their rivers and alerts."""
    return render(request, "regions.html", regions=all_regions(session).regions)
