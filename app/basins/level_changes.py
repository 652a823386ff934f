"""Changes of a basin's levels, of how its floods are analysed, of its flood categories, and of its rating table."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.threshold_schemas import FixedThreshold, FloodCategories, FloodFrequency
from app.basins.thresholds import categories_of, frequency_of, level_of
from app.basins.user_basins import AgencysWords, NotYours, own_change, require_own_words
from app.exports.answers import JsonAnswer, documented_responses
from app.http.api_keys import AdminWriter, KeyFirstRoute, OperatorWriter
from app.http.dependencies import AsKnown, BasinId, Reading
from app.http.problems import documented_writing
from app.http.shown import As, model_of
from hydrology.base.absent import texts
from hydrology.base.calendar import day
from hydrology.ratings import InvalidRating
from jobspec.fields import NAMED
from jobspec.levels import FixedLevel, FloodFrequencySettings, InvalidCategories, NewCategories, NewRating, NewThreshold
from records.access.audit import Writer
from records.alerts import held_alerts
from records.basins import basins, ratings
from records.basins.basins import UnknownBasin
from records.basins.ratings import NoRating, StoredRating
from records.levels import basin_levels, categories_and_doubts
from records.levels.basin_levels import ReservedName, TooManyLevels, UnknownLevel
from records.outlooks import outlooks

router = APIRouter(prefix="/basins", tags=["thresholds"], route_class=KeyFirstRoute)

ThresholdName = Annotated[str, Path(description="The level's name.", pattern=NAMED, examples=["bankfull"])]
_NEW: dict[int | str, dict[str, Any]] = {201: {"model": FixedThreshold, "description": "The level is new."}}


@router.put(
    "/{basin}/thresholds/{threshold}",
    summary="Set a level of a basin",
    responses=_NEW | documented_writing(UnknownBasin, NotYours, AgencysWords, NoRating, ReservedName, TooManyLevels),
)
def put_threshold(
    response: Response, writer: OperatorWriter, basin: BasinId, threshold: ThresholdName, level: FixedLevel
) -> FixedThreshold:
    """A flow that matters at the basin, such as one that floods a street or stops withdrawals. With the key that
    registered the basin, a forecaster's for one of the service, or an admin's. The same again changes nothing. A basin
    has at most 32 of them, and those of an unofficial basin are unofficial. Only an admin's key gives a level the name
    of an agency or of a flood category. Where `in_doubt` gives a reason, its alerts wait until it is corrected or
    confirmed."""
    new = NewThreshold(**level.model_dump() | {"name": threshold})
    with own_change(writer, basin, forecasters=True) as session:
        require_own_words(writer.key, threshold)
        change = basin_levels.put(session, basin, new, writer.clock.now())
        if change != "unchanged":
            outlooks.renew(session, basin)
            writer.record(session, "threshold set", basin, **new.model_dump())
        shown = level_of(session, basin, threshold, writer.clock.today())
    response.status_code = 201 if change == "new" else 200
    return shown


@router.put(
    "/{basin}/thresholds/{threshold}/confirmation",
    summary="Confirm a level of a basin that seems wrong",
    responses=documented_writing(UnknownBasin, UnknownLevel, NotYours),
)
def confirm_threshold(writer: OperatorWriter, basin: BasinId, threshold: ThresholdName) -> FixedThreshold:
    """What `in_doubt` states is no longer held against the level at about this discharge, and its alerts go out; what
    waited for it goes out within seconds. With the key that registered the basin, a forecaster's for one of the
    service, or an admin's. The same again changes nothing."""
    with own_change(writer, basin, forecasters=True) as session:
        categories_and_doubts.confirm(session, basin, [threshold])
        held_alerts.approve_confirmed(session, basin, by=writer.key.name, now=writer.clock.now(), wall=writer.now)
        writer.record(session, "threshold confirmed", basin, name=threshold)
        return level_of(session, basin, threshold, writer.clock.today())


@router.put(
    "/{basin}/flood-frequency",
    summary="Set how the floods of a basin's record are analysed",
    responses=documented_writing(UnknownBasin, NotYours),
)
def put_flood_frequency(writer: OperatorWriter, basin: BasinId, floods: FloodFrequencySettings) -> FloodFrequency:
    """A regional skew with its error, for a record that is too short to have a skew of its own, and whether floods are
    adjusted for a trend. With a regional skew the floods are those of Bulletin 17C, otherwise those of GEV. Levels,
    exceedance and alerts follow. With the key that registered the basin, or an admin's."""
    with own_change(writer, basin) as session:
        if basin_levels.put_flood_frequency(session, basin, floods, writer.clock.now()):
            outlooks.renew(session, basin)
            writer.record(session, "flood frequency set", basin, **floods.model_dump())
        return frequency_of(session, basin)


@router.put(
    "/{basin}/flood-categories",
    summary="Set the official flood categories of a basin",
    responses=documented_writing(UnknownBasin, InvalidCategories),
)
def put_flood_categories(writer: AdminWriter, basin: BasinId, new: NewCategories) -> FloodCategories:
    """Action, minor, moderate and major flooding as levels of those names, with their impact statements, from the JSON
    of a gauge of NOAA's National Water Prediction Service. A stage is converted by the basin's rating, and again when
    that is replaced. Where file and rating differ, the file's flow is used; `in_doubt` of a level gives the reason why
    its alerts wait. With an admin's key. The same again changes nothing."""
    with writer.database.transaction() as session:
        basins.require(session, basin)
        done = categories_and_doubts.put_categories(session, basin, new, writer.clock.now())
        if done.changed:
            outlooks.renew(session, basin)
            writer.record(session, "categories set", basin, source=new.source)
        return categories_of(session, basin, done.left_out, writer.clock.today())


@router.delete(
    "/{basin}/thresholds/{threshold}",
    status_code=204,
    summary="Remove an operator's level",
    responses=documented_writing(UnknownBasin, UnknownLevel, NotYours),
)
def delete_threshold(writer: OperatorWriter, basin: BasinId, threshold: ThresholdName) -> None:
    """With the key that registered the basin, a forecaster's for one of the service, or an admin's. The levels of the
    record stay."""
    with own_change(writer, basin, forecasters=True) as session:
        basin_levels.remove(session, basin, threshold)
        outlooks.renew(session, basin)
        writer.record(session, "threshold removed", basin, name=threshold)


_FACTS = As(omit=("rating", "largest_shift"), rename=(("basin_id", "basin"),), missing=True)


class RatingTable(model_of(StoredRating, _FACTS)):  # type: ignore[misc]
    """A rating table of a basin's gauge."""


class NewRatingTable(RatingTable):
    """A rating table as it was stored, and its effect on the official flood categories."""

    left_out: dict[str, str] = Field(description="Official flood categories without a discharge, and why.")
    in_doubt: dict[str, str] = Field(description="Levels that seem wrong, and why: their alerts wait.")


def table_of(stored: StoredRating) -> RatingTable:
    return RatingTable(**_FACTS.values(stored))


def new_table(session: Session, stored: StoredRating, writer: Writer) -> NewRatingTable:
    """Let official categories follow the rating in force; return a version, and what became of them."""
    converted = outlooks.follow_rating(session, stored.basin_id, writer.clock.now())
    doubts = categories_and_doubts.in_doubt(session, stored.basin_id, writer.clock.today())
    return NewRatingTable(**_FACTS.values(stored), left_out=texts(converted.left_out), in_doubt=doubts)


_NEW_TABLE: dict[int | str, dict[str, Any]] = {201: {"model": NewRatingTable, "description": "The table is new."}}


@router.get(
    "/{basin}/rating",
    summary="Rating table of a basin's gauge",
    **documented_responses(RatingTable, UnknownBasin, NoRating),
)
def read_rating_table(session: Reading, at: AsKnown, basin: BasinId, answer: JsonAnswer) -> Response:
    """The relation of stage and discharge that holds, with its source, datum and range. Between its points, discharge
    and stage are converted both ways; outside its range nothing is."""
    return answer.of(table_of(ratings.require(session, basin, day(at.date()), at)))


@router.put(
    "/{basin}/rating",
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
        shown = new_table(session, stored, writer)
    response.status_code = 201 if changed else 200
    return shown
