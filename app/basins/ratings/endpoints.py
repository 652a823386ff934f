"""/v1/basins/{basin}/rating"""

from typing import Any

from fastapi import APIRouter, Response

from app.basins.ratings import service
from app.basins.ratings.schemas import NewRatingTable, RatingTable
from app.basins.user_basins.service import AgencysWords, NotYours, require_own_words, require_yours
from app.exports.answers import JsonAnswer, documented_responses
from app.http.api_keys import KeyFirstRoute, OperatorWriter
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import documented_writing
from hydrology.base.absent import texts
from hydrology.ratings.rating import InvalidRating
from jobspec.ratings import NewRating
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.levels import flood_categories, level_doubts
from records.outlooks import outlooks
from records.ratings import ratings
from records.ratings.ratings import NoRating

router = APIRouter(prefix="/basins", tags=["thresholds"], route_class=KeyFirstRoute)

_NEW: dict[int | str, dict[str, Any]] = {201: {"model": NewRatingTable, "description": "The table is new."}}


@router.get(
    "/{basin}/rating",
    summary="Rating table of a basin's gauge",
    **documented_responses(RatingTable, UnknownBasin, NoRating),
)
def read_rating_table(session: Reading, clock: ServiceClock, basin: BasinId, answer: JsonAnswer) -> Response:
    """The relation of stage and discharge that holds today, with its source, datum and range. Between its points,
    discharge and stage are converted both ways; outside its range nothing is."""
    return answer.of(service.table_of(ratings.require(session, basin, clock.today())))


@router.put(
    "/{basin}/rating",
    summary="Set the rating table of a basin's gauge",
    responses=_NEW | documented_writing(UnknownBasin, NotYours, AgencysWords, InvalidRating),
)
def put_rating(response: Response, writer: OperatorWriter, basin: BasinId, new: NewRating) -> NewRatingTable:
    """A table of the USGS (RDB) or in CSV, from a day on. Earlier ones stay stored and hold for the days before. With
    the key that registered the basin, or an admin's; only the latter names an agency as `source`. The same again
    changes nothing. Official flood categories are converted anew; `left_out` has those without a discharge, `in_doubt`
    the levels that seem wrong."""
    now = writer.clock.now()
    with writer.database.transaction() as session:
        basins.require(session, basin)
        require_yours(session, writer.key, basin)
        require_own_words(writer.key, new.source)
        stored, changed = ratings.put(session, basin, new, now)
        converted = flood_categories.convert(session, basin, now)
        if converted.changed:
            outlooks.renew(session, basin)
        if changed:
            writer.record(session, "rating set", basin, source=new.source, valid_from=str(stored.valid_from))
        doubts = level_doubts.in_doubt(session, basin, writer.clock.today())
    response.status_code = 201 if changed else 200
    return NewRatingTable(**dict(service.table_of(stored)), left_out=texts(converted.left_out), in_doubt=doubts)
