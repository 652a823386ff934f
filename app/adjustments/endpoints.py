"""/v1/adjustments, /v1/basins/{basin}/adjustments and /v1/runs/{run}/basins/{basin}/adjusted"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from app.adjustments.answers import AdjustedForecast, AdjustmentPage, adjusted_forecast, adjustment_answer, of_adjusted
from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.exports.formats import SERIES
from app.forecasts.discharge import DischargeUnits
from app.http.api_keys import ForecasterReader, ForecasterWriter, KeyFirstRoute
from app.http.conditional import NO_STORE, SHORTLY, cached
from app.http.dependencies import BasinId, IdPage, KnownBasin, NoArea, OptionalBasin, Reading, RunId
from app.http.problems import Forbidden, documented, documented_keyed, documented_writing
from jobspec.changes import NewAdjustment, Publication
from jobspec.fields import ID
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.forecasts import adjustments
from records.forecasts.adjustments import AlreadyPublished, NotAdjustable, NotAdjusted, UnknownAdjustment
from records.forecasts.latest import NoForecast, NoModel
from records.outlooks import outlooks
from records.runs import runs
from records.runs.run_types import UnknownRun

router = APIRouter(tags=["forecasts"], route_class=KeyFirstRoute)

AdjustmentId = Annotated[str, Path(description="An adjustment's id.", pattern=ID, examples=["01a1fa31d0a6718d9e12f4"])]
_NEW: dict[int | str, dict[str, Any]] = {201: {"model": AdjustedForecast, "description": "The draft."}}


@router.get(
    "/basins/{basin}/adjustments",
    summary="Published adjustments of a basin's forecasts",
    response_model=schema_of(AdjustmentPage),
    responses=documented(UnknownBasin),
    dependencies=[cached(SHORTLY)],
)
def list_published_adjustments(
    session: Reading, basin: KnownBasin, page: IdPage, fields: Annotated[FieldFilter, fields_of(AdjustmentPage)]
) -> Response:
    """What forecasters changed of the basin's forecasts, newest first. Follow `next` until it is null."""
    shown, following = page.cut(adjustments.page(session, basin=basin, after=page.after, limit=page.sought))
    return fields.of(AdjustmentPage(adjustments=[adjustment_answer(session, one) for one in shown], next=following))


@router.get(
    "/runs/{run}/basins/{basin}/adjusted",
    summary="A run's forecast of a basin as a forecaster published it",
    **documented_responses(AdjustedForecast, UnknownRun, NotAdjusted, NoArea, formats=SERIES),
)
def read_adjusted(
    session: Reading, run: RunId, basin: BasinId, answer: SeriesAnswer, units: DischargeUnits = "m3/s"
) -> Response:
    """The newest published adjustment, beside the forecast as it was issued, which stays as it is. 404 if there is
    none."""
    runs.basin_of(session, run, basin)
    published = adjustments.published(session, run, basin)
    if published is None:
        raise NotAdjusted(f"Nobody has published an adjustment of run {run} for {basin}.")
    return answer.of_basin(adjusted_forecast(session, published, units), of_adjusted)


@router.post(
    "/basins/{basin}/adjustments",
    summary="Adjust an issued forecast",
    status_code=201,
    response_model=AdjustedForecast,
    responses=_NEW | documented_writing(UnknownBasin, UnknownRun, NoModel, NoForecast, NotAdjustable),
)
def create_adjustment(
    response: Response, writer: ForecasterWriter, basin: BasinId, new: NewAdjustment
) -> AdjustedForecast:
    """A draft for the latest forecast of the basin: a factor on the flow, a shift in time, chances of levels, and the
    reason in words. The answer has the forecast as issued and as adjusted. Nobody but forecasters sees a draft before
    it is published. With a forecaster's key."""
    now, wall = writer.clock.now(), writer.now
    with writer.database.transaction() as session:
        stored = adjustments.create(session, basin, new, writer.key.name, writer.key.id, now=now, wall=wall)
        writer.record(session, "forecast adjusted", stored.id, basin=basin, run=new.run)
    response.headers["Location"] = f"/v1/adjustments/{stored.id}"
    with writer.database.reading() as session:
        return adjusted_forecast(session, stored)


@router.get(
    "/adjustments",
    summary="Adjustments of all basins, with drafts",
    response_model=schema_of(AdjustmentPage),
    responses=documented_keyed(Forbidden, UnknownBasin),
    dependencies=[cached(NO_STORE)],
)
def list_adjustments(
    session: Reading,
    _key: ForecasterReader,
    page: IdPage,
    fields: Annotated[FieldFilter, fields_of(AdjustmentPage)],
    basin: OptionalBasin = None,
) -> Response:
    """Drafts and published ones, newest first. With a forecaster's key. Follow `next` until it is null."""
    if basin is not None:
        basins.require(session, basin)
    found = adjustments.page(session, basin=basin, drafts=True, after=page.after, limit=page.sought)
    shown, following = page.cut(found)
    return fields.of(AdjustmentPage(adjustments=[adjustment_answer(session, one) for one in shown], next=following))


@router.get(
    "/adjustments/{adjustment}",
    summary="An adjustment beside the forecast as issued",
    responses=documented_keyed(Forbidden, UnknownAdjustment, NoArea),
    dependencies=[cached(NO_STORE)],
)
def read_adjustment(
    session: Reading, _key: ForecasterReader, adjustment: AdjustmentId, units: DischargeUnits = "m3/s"
) -> AdjustedForecast:
    """A draft or a published adjustment. With a forecaster's key."""
    return adjusted_forecast(session, adjustments.get(session, adjustment), units)


@router.post(
    "/adjustments/{adjustment}/publish",
    summary="Publish an adjustment",
    responses=documented_writing(UnknownAdjustment, AlreadyPublished, NoModel, NoForecast, NotAdjustable),
)
def publish_adjustment(
    writer: ForecasterWriter, adjustment: AdjustmentId, publication: Publication
) -> AdjustedForecast:
    """Publishes a draft under the name of the key, with the time and a note. The basin's alerts are decided by it
    within seconds, held ones too. The forecast as issued stays, and verification judges both. With a forecaster's
    key."""
    with writer.database.reading() as session:
        levels = adjusted_forecast(session, adjustments.get(session, adjustment)).levels
    seen = None if levels is None else [level.model_dump(mode="json") for level in levels]
    publisher, note = writer.key.name, publication.note
    with writer.database.transaction() as session:
        stored = adjustments.publish(session, adjustment, publisher, note, seen, writer.clock.now())
        outlooks.renew_run(session, stored.run_id, stored.basin_id)
        writer.record(session, "adjustment published", stored.id, basin=stored.basin_id, run=stored.run_id, note=note)
    with writer.database.reading() as session:
        return adjusted_forecast(session, stored)


@router.delete(
    "/adjustments/{adjustment}",
    status_code=204,
    summary="Delete the draft of an adjustment",
    responses=documented_writing(UnknownAdjustment, AlreadyPublished),
)
def delete_adjustment(writer: ForecasterWriter, adjustment: AdjustmentId) -> None:
    """What is published stays. With a forecaster's key."""
    with writer.database.transaction() as session:
        adjustments.remove(session, adjustment)
        writer.record(session, "adjustment deleted", adjustment)
