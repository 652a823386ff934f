"""/v1/verification/worst"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.errors import service
from app.forecasts.errors.schemas import WorstErrors
from app.http.dependencies import OptionalBasin, OptionalVersion, Reading
from app.http.problems import refused
from app.versions.verification import OfSeason
from hydrology.attribution.forecast_error import Measure
from hydrology.base.calendar import Period, day
from hydrology.verification.results import ALL_YEAR
from jobspec.fields import DayField
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.verification.error_splits import ErrorFilter
from records.versions import versions
from records.versions.versions import UnknownVersion

router = APIRouter(prefix="/verification", tags=["skill"])

MAX_CASES = 100
_FIRST, _LAST = day("0001-01-01"), day("9999-12-31")

Of = Annotated[Measure, Query(description="The measure of the error: the volume of the days ahead, or their peak.")]
Start = Annotated[DayField | None, Query(description="Only forecasts with this T0 or a later one.")]
End = Annotated[DayField | None, Query(description="Only forecasts with this T0 or an earlier one.")]
Limit = Annotated[int, Query(description="Number of forecasts.", ge=1, le=MAX_CASES)]


@router.get(
    "/worst",
    summary="The worst forecasts, and what went wrong",
    **documented_responses(WorstErrors, UnknownBasin, UnknownVersion),
)
def read_worst_errors(
    session: Reading,
    answer: JsonAnswer,
    of: Of = "volume",
    version: OptionalVersion = None,
    basin: OptionalBasin = None,
    season: OfSeason = ALL_YEAR,
    start: Start = None,
    end: End = None,
    limit: Limit = 10,
) -> Response:
    """The verified operational forecasts with the largest errors of volume or peak, for instance of a season. Each
    error is split exactly into those of the weather after T0, of the initial state and of the network, by reruns with
    the weather that came; the mean size of each over all verified forecasts is given beside. A forecast is verified
    once the flow of all its days is 30 days old."""
    if version is not None:
        versions.get(session, version)
    if basin is not None:
        basins.require(session, basin)
    if start is not None and end is not None and start > end:
        raise refused("start", "it is later than `end`: exchange them.")
    t0 = None  # a day that NumPy takes for false, 1970-01-01, is one
    if start is not None or end is not None:
        t0 = Period(_FIRST if start is None else start, _LAST if end is None else end)
    chosen = ErrorFilter(version=version, basin=basin, season=season, t0=t0)
    return answer.of(service.worst_errors(session, of, chosen, limit))
