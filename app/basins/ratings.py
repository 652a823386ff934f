"""/v1/basins/{basin}/rating: rating tables of basins, and stages by them."""

from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.user_basins import AgencysWords, NotYours, own_change, require_own_words
from app.exports.answers import JsonAnswer, documented_responses
from app.http.api_keys import KeyFirstRoute, OperatorWriter
from app.http.base_schema import EXPLAINED, Missing, Model, OfBasin
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import documented_writing
from hydrology.base.absent import absent, texts
from hydrology.base.calendar import Day
from hydrology.base.doc import Why
from hydrology.base.reasons import Reason
from hydrology.ratings import M_PER_FT, Expansion, InvalidRating, Rating
from jobspec.levels import NewRating
from records.basins import ratings
from records.basins.basins import UnknownBasin
from records.basins.ratings import NoRating
from records.levels import categories_and_doubts
from records.outlooks import outlooks

router = APIRouter(prefix="/basins", tags=["thresholds"], route_class=KeyFirstRoute)


class Stage(Model):
    """The stage of a discharge, by the basin's rating of the day."""

    ft: float | None = Field(description="Above the gauge's datum; null for the reason that `reason` gives.")
    m: float | None = Field(description="The same in metres.")
    reason: str | None = Field(description="Why it is null; null where it is not.")


class RatingTable(OfBasin):
    """A rating table of a basin's gauge."""

    source: str
    datum: Annotated[str | None, Why("None was given.")] = Field(description="What the gauge's zero refers to.")
    valid_from: date = Field(description="The first day that it holds for.")
    site: Annotated[str | None, Why("The file names none.")] = Field(
        description="The gauge's number, as the file has it."
    )
    number: Annotated[str | None, Why("The file names none.")] = Field(
        description="The rating's number, as the file has it."
    )
    shifted: Annotated[str | None, Why("The table has no shifts.")] = Field(
        description="Time of the shifts, as the file has it."
    )
    largest_shift_ft: float = Field(description="The largest shift that the table includes, with its sign.")
    expansion: Expansion = Field(description="How points are joined: by logarithms above an offset, or straight.")
    stage_ft: list[float] = Field(description="Stages of the points, ft: the range that is converted.")
    stage_m: list[float] = Field(description="The same in metres.")
    discharge_m3s: list[float] = Field(description="Discharges of the points, m³/s.")
    set_at: datetime = Field(description="By the service's clock.")
    missing: Missing = EXPLAINED


class NewRatingTable(RatingTable):
    """A rating table as it was stored, and its effect on the official flood categories."""

    left_out: dict[str, str] = Field(description="Official flood categories without a discharge, and why.")
    in_doubt: dict[str, str] = Field(description="Levels that seem wrong, and why: their alerts wait.")


def table_of(stored: ratings.StoredRating) -> RatingTable:
    """Return a stored rating table."""
    stages = np.array(stored.rating.stages)
    return RatingTable.from_records(
        stored,
        largest_shift_ft=round(stored.largest_shift / M_PER_FT, 6),
        expansion=stored.rating.expansion,
        stage_ft=(stages / M_PER_FT).round(6).tolist(),
        stage_m=stages.round(7).tolist(),
        discharge_m3s=np.array(stored.rating.discharges).round(7).tolist(),
    )


NO_RATING = absent(Reason.NO_RATING)


def rating_of(session: Session, basin: str, on: Day) -> Rating | None:
    """Return the rating of a basin that holds on a day; None without one."""
    stored = ratings.newest(session, basin, on)
    return None if stored is None else stored.rating


def stage_of(rating: Rating | None, discharge: float | None) -> Stage:
    """Return the stage of a discharge, m3/s, or why there is none."""
    if rating is None:
        return Stage(ft=None, m=None, reason=str(NO_RATING))
    if discharge is None:
        return Stage(ft=None, m=None, reason=str(absent(Reason.NO_STAGE_OF_NOTHING)))
    metres = float(rating.stage(discharge))
    if np.isnan(metres):
        return Stage(ft=None, m=None, reason=str(rating.why_no_stage(discharge)))
    return Stage(ft=round(metres / M_PER_FT, 3), m=round(metres, 4), reason=None)


_NEW: dict[int | str, dict[str, Any]] = {201: {"model": NewRatingTable, "description": "The table is new."}}


@router.get(
    "/{basin}/rating",
    summary="Rating table of a basin's gauge",
    **documented_responses(RatingTable, UnknownBasin, NoRating),
)
def read_rating_table(session: Reading, clock: ServiceClock, basin: BasinId, answer: JsonAnswer) -> Response:
    """The relation of stage and discharge that holds today, with its source, datum and range. Between its points,
    discharge and stage are converted both ways; outside its range nothing is."""
    return answer.of(table_of(ratings.require(session, basin, clock.today())))


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
    with own_change(writer, basin) as session:
        require_own_words(writer.key, new.source)
        stored, changed = ratings.put(session, basin, new, now)
        converted = categories_and_doubts.convert_categories(session, basin, now)
        if converted.changed:
            outlooks.renew(session, basin)
        if changed:
            writer.record(session, "rating set", basin, source=new.source, valid_from=str(stored.valid_from))
        doubts = categories_and_doubts.in_doubt(session, basin, writer.clock.today())
    response.status_code = 201 if changed else 200
    return NewRatingTable(**dict(table_of(stored)), left_out=texts(converted.left_out), in_doubt=doubts)
