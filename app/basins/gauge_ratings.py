"""Rating tables of gauges, version by version, and those that wait for a forecaster's agreement."""

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.queries import BasinCursor
from app.basins.user_basins import AgencysWords, NotYours, own_change, require_own_words
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import ForecasterReader, ForecasterWriter, KeyFirstRoute, OperatorWriter
from app.http.base_schema import Model, next_page
from app.http.conditional import NO_STORE, SHORTLY
from app.http.dependencies import AsKnown, BasinId, NumberCursor, Reading
from app.http.problems import Forbidden, Unauthorized, documented_writing
from app.http.shown import As, model_of
from hydrology.base.absent import texts
from hydrology.base.calendar import day
from hydrology.base.units import M_PER_FT
from hydrology.ratings import Expansion, InvalidRating
from jobspec.changes import RatingRuling
from jobspec.levels import NewRating
from records.access.audit import Action, Writer
from records.basins import ratings
from records.basins.basins import UnknownBasin
from records.basins.ratings import NoRating, NoRatingHeld, StoredRating
from records.levels import categories_and_doubts
from records.outlooks import outlooks

_VERSION = As(omit=("rating", "largest_shift"), rename=(("basin_id", "basin"),), missing=True)


class RatingVersion(model_of(StoredRating, _VERSION)):  # type: ignore[misc]
    """A version of the rating table of a basin's gauge."""

    largest_shift_ft: float = Field(description="The largest shift that the table includes, with its sign.")


class RatingVersions(Model):
    """Versions of rating tables."""

    ratings: list[RatingVersion]
    next: str | None = next_page("/v1/basins/USGS-13235000/ratings?limit=100&after=12")


class RatingTable(RatingVersion):
    """A rating table of a basin's gauge."""

    expansion: Expansion = Field(description="How points are joined: by logarithms above an offset, or straight.")
    stage_ft: list[float] = Field(description="Stages of the points, ft: the range that is converted.")
    stage_m: list[float] = Field(description="The same in metres.")
    discharge_m3s: list[float] = Field(description="Discharges of the points, m³/s.")


class NewRatingTable(RatingTable):
    """A rating table as it was stored, and its effect on the official flood categories."""

    left_out: dict[str, str] = Field(description="Official flood categories without a discharge, and why.")
    in_doubt: dict[str, str] = Field(description="Levels that seem wrong, and why: their alerts wait.")


def version_of(stored: StoredRating) -> RatingVersion:
    return RatingVersion(**_facts(stored))


def table_of(stored: StoredRating) -> RatingTable:
    return RatingTable(**_facts(stored), **_points(stored))


def _facts(stored: StoredRating) -> dict[str, Any]:
    return _VERSION.values(stored) | {"largest_shift_ft": round(stored.largest_shift / M_PER_FT, 6)}


def _points(stored: StoredRating) -> dict[str, Any]:
    stages = np.array(stored.rating.stages)
    return {
        "expansion": stored.rating.expansion,
        "stage_ft": (stages / M_PER_FT).round(6).tolist(),
        "stage_m": stages.round(7).tolist(),
        "discharge_m3s": np.array(stored.rating.discharges).round(7).tolist(),
    }


router = APIRouter(tags=["thresholds"], route_class=KeyFirstRoute)
_NEW_TABLE: dict[int | str, dict[str, Any]] = {201: {"model": NewRatingTable, "description": "The table is new."}}


@router.get(
    "/basins/{basin}/rating",
    summary="Rating table of a basin's gauge",
    **documented_responses(RatingTable, UnknownBasin, NoRating),
)
def read_rating_table(session: Reading, at: AsKnown, basin: BasinId, answer: JsonAnswer) -> Response:
    """The relation of stage and discharge that holds today, or held as known at an instant, with its source, datum and
    range. Between its points, discharge and stage are converted both ways; outside its range nothing is."""
    return answer.of(table_of(ratings.require(session, basin, day(at.date()), at)))


@router.get(
    "/basins/{basin}/ratings",
    summary="Versions of the rating of a basin's gauge",
    **documented_list(RatingVersions, UnknownBasin, cache_control=SHORTLY),
)
def list_ratings(
    session: Reading, basin: BasinId, page: Annotated[Listing, listing(RatingVersions, NumberCursor)]
) -> Response:
    """Every version that was ever stored, the newest first, without its points: since when each converts, and those
    that wait, or waited, for a forecaster's agreement, with the reason. Stages of other answers name theirs."""
    found = ratings.versions(session, basin, before=page.after, limit=page.sought)
    return page.of(found, lambda shown: [*map(version_of, shown)], lambda one: one.version)


@router.get(
    "/ratings/held",
    summary="Ratings that wait for a forecaster's agreement",
    **documented_list(RatingVersions, Unauthorized, Forbidden, cache_control=NO_STORE),
)
def list_held_ratings(
    session: Reading, _key: ForecasterReader, page: Annotated[Listing, listing(RatingVersions, BasinCursor)]
) -> Response:
    """Versions that a service delivered, and that jump from the one in force or contradict the official flood
    categories (`held`). Until somebody decides, the one before converts. With a forecaster's key."""
    found = ratings.waiting(session, after=page.after, limit=page.sought)
    return page.of(found, lambda shown: [*map(version_of, shown)], lambda one: one.basin_id)


@router.put(
    "/basins/{basin}/rating",
    summary="Set the rating table of a basin's gauge",
    responses=_NEW_TABLE | documented_writing(UnknownBasin, NotYours, AgencysWords, InvalidRating),
)
def put_rating(response: Response, writer: OperatorWriter, basin: BasinId, new: NewRating) -> NewRatingTable:
    """A table of the USGS (RDB) or in CSV, from a day on. Earlier ones stay stored and hold for the days before. With
    the key that registered the basin, or an admin's; only the latter names an agency as `source`. The same again
    changes nothing. Official flood categories are converted anew; `left_out` has those without a discharge, `in_doubt`
    the levels that seem wrong."""
    with own_change(writer, basin) as session:
        require_own_words(writer.key, new.source)
        stored, changed = ratings.put(session, basin, new, writer.clock.now())
        if changed:
            writer.record(session, "rating set", basin, source=new.source, valid_from=str(stored.valid_from))
        shown = _in_force(session, writer, stored)
    response.status_code = 201 if changed else 200
    return shown


@router.post(
    "/basins/{basin}/ratings/held",
    summary="Approve or dismiss a rating that waits",
    responses=documented_writing(UnknownBasin, NoRatingHeld),
)
def decide_held_rating(writer: ForecasterWriter, basin: BasinId, ruling: RatingRuling) -> NewRatingTable:
    """An approved version converts from now on, and official flood categories follow it. A dismissed one stays stored
    and never converts; the same table is not held again. With a forecaster's key."""
    action: Action = "rating approved" if ruling.ruling == "approve" else "rating dismissed"
    with writer.database.transaction() as session:
        stored = ratings.rule(session, basin, ruling, writer.key.name, writer.clock.now())
        writer.record(session, action, basin, version=ruling.version, note=ruling.note)
        return _in_force(session, writer, stored)


def _in_force(session: Session, writer: Writer, stored: StoredRating) -> NewRatingTable:
    """Let the official categories follow the rating in force."""
    basin = stored.basin_id
    converted = categories_and_doubts.convert_categories(session, basin, writer.clock.now())
    if converted.changed:
        outlooks.renew(session, basin)
    doubts = categories_and_doubts.in_doubt(session, basin, writer.clock.today())
    facts = _facts(stored) | _points(stored)
    return NewRatingTable(**facts, left_out=texts(converted.left_out), in_doubt=doubts)
