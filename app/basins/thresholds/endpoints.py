"""/v1/basins/{basin}/thresholds"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from app.basins.thresholds import service
from app.basins.thresholds.schemas import FixedThreshold, Thresholds
from app.basins.user_basins.service import NotYours, require_yours
from app.http.api_keys import By, Operator
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch, not_modified
from app.http.dependencies import BasinId, OpenDatabase, Reading, ServiceClock
from app.http.discharge_units import AreaName
from app.http.problems import documented, documented_writing
from hydrology.base.units import Units
from jobspec.fields import NAME
from jobspec.thresholds import FixedLevel, NewThreshold
from records.access import audit
from records.alerts import thresholds
from records.alerts.thresholds import ReservedName, UnknownThreshold
from records.basins import basins
from records.basins.basins import UnknownArea, UnknownBasin

router = APIRouter(prefix="/basins", tags=["thresholds"])

DischargeUnits = Annotated[Units, Query(description="The unit of every discharge.")]
ThresholdName = Annotated[str, Path(description="The level's name.", pattern=f"^{NAME}$", examples=["bankfull"])]
_NEW: dict[int | str, dict[str, Any]] = {201: {"model": FixedThreshold, "description": "The level is new."}}


@router.get(
    "/{basin}/thresholds",
    summary="Flood, low-flow and operator levels of a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin, UnknownArea),
    response_model=Thresholds,
)
def read_thresholds(
    session: Reading,
    response: Response,
    basin: BasinId,
    units: DischargeUnits = "m3/s",
    area: AreaName = None,
    if_none_match: IfNoneMatch = None,
) -> Thresholds | Response:
    """The levels of the basin's own gauge record: floods of 2 to 50 years by two distributions, 7-day low flows of 2
    and 10 years, and flow duration levels, with their intervals and the number of years. A record shorter than ten
    years has none, and gives the reason. Also the levels simulated by the current model version (`model`), and those
    set by operators. Floods are of daily means, and lower than instantaneous peaks."""
    asked = service.request(session, basin, units, area)
    unchanged = not_modified(response, service.tag_of(session, asked), SHORTLY, if_none_match)
    return unchanged or service.answer(session, asked)


@router.put(
    "/{basin}/thresholds/{threshold}",
    summary="Set a level of a basin",
    responses=_NEW | documented_writing(UnknownBasin, NotYours, ReservedName),
)
def put_threshold(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    clock: ServiceClock,
    basin: BasinId,
    threshold: ThresholdName,
    level: FixedLevel,
) -> FixedThreshold:
    """A flow that matters at the basin, such as one that floods a street or stops withdrawals. With the key that
    registered the basin, or an admin's. The same again changes nothing."""
    now, new = clock.wall(), NewThreshold(name=threshold, discharge=level.discharge, direction=level.direction)
    with database.transaction() as session:
        basins.require(session, basin)
        require_yours(session, key, basin)
        change = thresholds.put(session, basin, new, now)
        if change != "unchanged":
            audit.record(session, actor, "threshold set", basin, now, **new.model_dump())
        shown = service.fixed_threshold(thresholds.get(session, basin, threshold))
    response.status_code = 201 if change == "new" else 200
    return shown


@router.delete(
    "/{basin}/thresholds/{threshold}",
    status_code=204,
    summary="Remove an operator's level",
    responses=documented_writing(UnknownBasin, UnknownThreshold, NotYours),
)
def delete_threshold(
    key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, basin: BasinId, threshold: ThresholdName
) -> None:
    """With the key that registered the basin, or an admin's. The levels of the record stay."""
    with database.transaction() as session:
        basins.require(session, basin)
        require_yours(session, key, basin)
        thresholds.remove(session, basin, threshold)
        audit.record(session, actor, "threshold removed", basin, clock.wall(), name=threshold)
