"""/v1/basins/{basin}/ratings and /v1/ratings/held: versions of ratings, and those that wait for a forecaster."""

from typing import Annotated

from fastapi import APIRouter, Response

from app.basins.level_changes import NewRatingTable, new_table
from app.exports.fields import FieldFilter, Listing, documented_list, fields_of, listing
from app.http.api_keys import ForecasterReader, ForecasterWriter, KeyFirstRoute
from app.http.base_schema import Model, next_page
from app.http.conditional import NO_STORE, SHORTLY
from app.http.dependencies import KnownBasin, NumberCursor, Reading
from app.http.problems import Forbidden, Unauthorized, documented_writing
from app.http.shown import As, model_of
from jobspec.changes import RatingRuling
from records.access.audit import Action
from records.basins import ratings
from records.basins.basins import UnknownBasin
from records.basins.ratings import NoRatingHeld, StoredRating

POINTS = ("rating", "largest_shift", "expansion", "stage_ft", "stage_m", "discharge_m3s")
_FACTS = As("RatingFacts", omit=POINTS, rename=(("basin_id", "basin"),), missing=True)


class RatingVersion(model_of(StoredRating, _FACTS)):  # type: ignore[misc]
    """A version of the rating table of a basin's gauge, without its points."""


class RatingVersions(Model):
    """Versions of rating tables."""

    ratings: list[RatingVersion]
    next: str | None = next_page("/v1/basins/USGS-13235000/ratings?limit=100&after=12")


def version_of(stored: StoredRating) -> RatingVersion:
    return RatingVersion(**_FACTS.values(stored))


router = APIRouter(tags=["thresholds"], route_class=KeyFirstRoute)


@router.get(
    "/basins/{basin}/ratings",
    summary="Versions of the rating of a basin's gauge",
    **documented_list(RatingVersions, UnknownBasin, cache_control=SHORTLY),
)
def list_ratings(
    session: Reading, basin: KnownBasin, page: Annotated[Listing, listing(RatingVersions, NumberCursor)]
) -> Response:
    """Every version that was ever stored, the newest first: since when each converts, and those that wait, or waited,
    for a forecaster, with the reason. Stages in other answers name theirs (`rating_version`)."""
    found = ratings.versions(session, basin, before=page.after, limit=page.sought)
    return page.of(found, lambda shown: [*map(version_of, shown)], lambda one: one.version)


@router.get(
    "/ratings/held",
    summary="Ratings that wait for a forecaster",
    **documented_list(RatingVersions, Unauthorized, Forbidden, cache_control=NO_STORE),
)
def list_held_ratings(
    session: Reading, key: ForecasterReader, fields: Annotated[FieldFilter, fields_of(RatingVersions)]
) -> Response:
    """Versions that a service delivered and that jump from the one in force, or contradict the official flood
    categories (`held`). Until somebody decides, the one before converts. With a forecaster's key, of one for a region
    those there."""
    return fields.of(RatingVersions(ratings=[*map(version_of, ratings.waiting(session, key.region))], next=None))


@router.post(
    "/basins/{basin}/ratings/held",
    summary="Approve or dismiss a rating that waits",
    responses=documented_writing(UnknownBasin, NoRatingHeld),
)
def decide_held_rating(writer: ForecasterWriter, basin: KnownBasin, ruling: RatingRuling) -> NewRatingTable:
    """An approved version converts from now on, and official flood categories follow it. A dismissed one stays stored
    and never converts; while the service delivers it, it is not held again. With a forecaster's key."""
    action: Action = "rating approved" if ruling.ruling == "approve" else "rating dismissed"
    with writer.database.transaction() as session:
        stored = ratings.rule(session, basin, ruling, writer.key.name, writer.clock.now())
        writer.record(session, action, basin, version=ruling.version, note=ruling.note)
        return new_table(session, stored, writer)
