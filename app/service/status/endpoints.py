"""/v1/status"""

from fastapi import APIRouter, Response

from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.problems import documented
from app.service.status import service
from app.service.status.schemas import Status

router = APIRouter(prefix="/status", tags=["status"])


@router.get("", summary="How fresh the forecasts and their inputs are", responses=documented())
def read_status(
    session: Reading, database: OpenDatabase, clock: ServiceClock, settings: ServiceSettings, response: Response
) -> Status:
    """The newest T0 and issue of every model version in use, the newest day of every product and its age by the
    service's clock, and what is degraded and why: late forecasts and inputs, work that nobody takes or that fails, a
    part of the service that is being started again, a job whose process is stopped, a disk that is nearly full, a clock
    that is wrong or was set. And how many schedulers and workers are there."""
    response.headers["Cache-Control"] = "no-store"
    return service.status(session, clock, settings, database.check().revision)
