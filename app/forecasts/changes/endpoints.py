"""/v1/basins/{basin}/forecasts/latest/changes and /v1/runs/{run}/basins/{basin}/changes"""

from fastapi import APIRouter, Response

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts import lookup
from app.forecasts.changes import service, table
from app.forecasts.changes.schemas import ChangeOfRun
from app.forecasts.discharge import DischargeUnits
from app.http.dependencies import AsKnown, BasinId, Reading, RunId
from app.http.discharge_units import NoArea
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoForecast, NoModel
from records.runs.run_types import UnknownRun

router = APIRouter(tags=["forecasts"])


@router.get(
    "/basins/{basin}/forecasts/latest/changes",
    summary="Why the latest forecast differs from the previous one",
    **documented_responses(ChangeOfRun, UnknownBasin, NoModel, NoForecast, NoArea, formats=SERIES),
)
def read_latest_changes(
    session: Reading, answer: SeriesAnswer, basin: BasinId, at: AsKnown, units: DischargeUnits = "m3/s"
) -> Response:
    """The change of the discharge since the previous operational run of the basin, on the days that both hold, split
    into weather that came, new weather forecast, revised data, model version and observed flow. The parts add up to the
    change; `in_words` describes the largest one. Null, with the reason, for a basin's first forecast."""
    changes = service.change_of(session, lookup.latest(session, basin, at), at, units)
    return answer.of_basin(changes, table.of_change)


@router.get(
    "/runs/{run}/basins/{basin}/changes",
    summary="Why the forecast of a given run differs from the previous one",
    **documented_responses(ChangeOfRun, UnknownRun, NoArea, formats=SERIES),
)
def read_changes_of_run(
    session: Reading, answer: SeriesAnswer, run: RunId, basin: BasinId, units: DischargeUnits = "m3/s"
) -> Response:
    """The same answer as for the latest forecast, of any operational run."""
    changes = service.change_of(session, lookup.of_run(session, run, basin), None, units)
    return answer.of_basin(changes, table.of_change)
