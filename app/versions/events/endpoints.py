"""/v1/basins/{basin}/events"""

from fastapi import APIRouter, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.http.dependencies import BasinId, ChosenVersion, Reading
from app.versions.events import service
from app.versions.events.schemas import Events
from app.versions.verification.endpoints import OfSeason
from hydrology.verification.results import ALL_YEAR
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.simulations.simulated_flow import NotSimulated
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])


@router.get(
    "/basins/{basin}/events",
    summary="Scores of the events of a basin: time, height, volume and onset of peaks",
    **documented_responses(Events, UnknownBasin, UnknownVersion, NoModel, NotSimulated),
)
def read_events(
    session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None, season: OfSeason = ALL_YEAR
) -> Response:
    """Events cut from the observed and the simulated hydrograph of the newest evaluation, matched, with the errors of
    each; missed events and false alarms. The season is that of the peak. An event beside a gap is left out."""
    return answer.of(service.of_basin(session, basin, version, season))
