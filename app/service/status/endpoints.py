"""/v1/status"""

from fastapi import APIRouter

from app.http.conditional import NO_STORE, cached
from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.problems import documented
from app.service.status import service
from app.service.status.schemas import Status

router = APIRouter(prefix="/status", tags=["status"])


@router.get(
    "",
    summary="Age of forecasts and inputs, and degradations",
    responses=documented(),
    dependencies=[cached(NO_STORE)],
)
def read_status(session: Reading, database: OpenDatabase, clock: ServiceClock, settings: ServiceSettings) -> Status:
    """The newest T0 and issue of every model version in use, the newest day of every product and its age by the
    service's clock, and all degradations with their causes: late forecasts and inputs, jobs that wait or fail, a
    restarting part of the service, a stopped job process, a nearly full disk, a wrong or adjusted clock. Also the
    number of schedulers and workers, and the workers' GPUs."""
    return service.status(session, clock, settings, database.check().revision)
