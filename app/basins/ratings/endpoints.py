"""/v1/basins/{basin}/rating"""

from typing import Any

from fastapi import APIRouter, Response

from app.basins.ratings import service
from app.basins.ratings.schemas import RatingTable
from app.basins.user_basins.service import NotYours, require_yours
from app.exports.answers import JsonAnswer, answers
from app.http.api_keys import OperatorWriter
from app.http.dependencies import BasinId, Reading
from app.http.problems import documented_writing
from hydrology.base.calendar import day
from hydrology.ratings.rating import InvalidRating
from jobspec.ratings import NewRating
from records.alerts import flood_categories
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.ratings import ratings
from records.ratings.ratings import NoRating

router = APIRouter(prefix="/basins", tags=["thresholds"])

_NEW: dict[int | str, dict[str, Any]] = {201: {"model": RatingTable, "description": "The table is new."}}


@router.get(
    "/{basin}/rating", summary="Rating table of a basin's gauge", **answers(RatingTable, UnknownBasin, NoRating)
)
def read_rating_table(session: Reading, basin: BasinId, answer: JsonAnswer) -> Response:
    """The relation of stage and discharge that holds today, with its source, datum and range. Between its points,
    discharge and stage are converted both ways; outside its range nothing is."""
    return answer.of(service.table_of(ratings.require(session, basin)))


@router.put(
    "/{basin}/rating",
    summary="Set the rating table of a basin's gauge",
    responses=_NEW | documented_writing(UnknownBasin, NotYours, InvalidRating),
)
def put_rating(response: Response, writer: OperatorWriter, basin: BasinId, new: NewRating) -> RatingTable:
    """A table of the USGS (RDB) or in CSV, from a day on. Earlier ones stay stored and hold for the days before. With
    the key that registered the basin, or an admin's. The same again changes nothing."""
    with writer.database.transaction() as session:
        basins.require(session, basin)
        require_yours(session, writer.key, basin)
        changed = ratings.put(session, basin, new, writer.now)
        valid_from = new.valid_from or day(writer.now.date())
        if changed:
            flood_categories.convert_again(session, basin, ratings.require(session, basin).rating, writer.now)
            writer.record(session, "rating set", basin, source=new.source, valid_from=str(valid_from))
        stored = ratings.require(session, basin)
    response.status_code = 201 if changed else 200
    return service.table_of(stored)
