"""/v1/adjustments, /v1/basins/{basin}/adjustments and /v1/runs/{run}/basins/{basin}/adjusted"""

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.exports.formats import SERIES
from app.forecasts.discharge import ANSWER_LEVELS, DischargeUnits, in_units, level_name, usual_units
from app.forecasts.header import Columns, Days, FieldUnits, GappyColumns, LeadDays, days_ahead, run_table
from app.http import json_numbers
from app.http.api_keys import ForecasterReader, ForecasterWriter, KeyFirstRoute
from app.http.base_schema import Model, Series, column, maybe, next_page
from app.http.conditional import NO_STORE, SHORTLY, cached
from app.http.dependencies import BasinId, KnownBasin, OptionalBasin, Reading, RunId, id_path
from app.http.problems import Forbidden, Unauthorized, documented, documented_writing
from app.http.shown import As, model_of
from hydrology.alerts import WINDOW_DAYS
from hydrology.base.absent import Absent
from hydrology.base.doc import Why
from hydrology.base.units import NoArea, Units
from hydrology.uncertainty.exceedance import Direction
from jobspec.changes import NewAdjustment, NewFlow, Publication
from records.access.keys import Key
from records.basins import basins, regions
from records.basins.regions import OutsideRegion
from records.forecasts import adjustments
from records.forecasts.adjustments import AlreadyPublished, NotAdjustable, NotAdjusted, UnknownAdjustment
from records.forecasts.latest import NoForecast, NoModel
from records.outlooks import outlooks, updates
from records.outlooks.updates import NotUpdatable
from records.runs import run_arrays, run_types, runs
from records.runs.tables import Adjustment as StoredAdjustment

_STORED = As(
    "StoredAdjustment",
    omit=("chances", "key_id", "levels", "alerts_at", "moves"),
    rename=(("basin_id", "basin"), ("run_id", "run")),
    exact=True,
    missing=True,
)


class Adjustment(model_of(StoredAdjustment, _STORED)):  # type: ignore[misc]
    """What a forecaster or a measured flow changes of an issued forecast of a basin."""

    id: Annotated[str, Series("identifier of the adjustment", column="adjustment")]
    run: Annotated[str, Series("identifier of the run")]
    publisher: Annotated[str | None, Why("It is a draft."), Series("who published it")] = Field(
        description="Who published it."
    )
    t0: date
    chances: dict[str, float] = Field(description="By level: the chance of passing it that the forecaster set.")


class AdjustmentPage(Model):
    """Adjustments, the newest draft first."""

    adjustments: list[Adjustment]
    next: str | None = next_page("/v1/adjustments?limit=100&after=01a1fa31d0a6718d9e12f4")


class AdjustedLevel(Model):
    """The chance of passing a level within the alerts' window."""

    level: str
    direction: Direction
    discharge: float = Field(description="m³/s.")
    issued: float = Field(description="As computed.")
    adjusted: float = Field(description="By the adjusted flow, or as the forecaster set it.")


class AdjustedForecast(Adjustment):
    """A forecast as issued and as adjusted, side by side."""

    units: FieldUnits
    time: Days
    lead_days: LeadDays
    flow_of: Literal["calibrated", "discharge"] = Field(
        description="What is adjusted: the calibrated quantiles, or without them those of the members."
    )
    issued: Annotated[Columns, Series("discharge as issued")] = Field(
        description=column("The quantiles as issued, in the requested unit")
    )
    adjusted: Annotated[GappyColumns, Series("discharge as adjusted")] = Field(
        description=column("The same as adjusted; null on days that no flow is moved to")
    )
    window_days: int = Field(description="Number of days after T0 that the chances cover.")
    levels: list[AdjustedLevel] | None = Field(description="In the order of their names; null without a calibration.")


def adjustment_answer(session: Session, stored: StoredAdjustment) -> Adjustment:
    return Adjustment(**_fields(session, stored))


def adjusted_forecast(session: Session, stored: StoredAdjustment, units: Units | None = None) -> AdjustedForecast:
    """Return a forecast as issued and as adjusted. By default in m3/s, or in mm/day where the run names no area."""
    run, basin = runs.get(session, stored.run_id), runs.basin_of(session, stored.run_id, stored.basin_id)
    units = units or usual_units(basin)
    series = runs.series_of(session, run.id, basin.basin_id, (run_arrays.CALIBRATED, "discharge_quantiles"))
    flow_of: Literal["calibrated", "discharge"] = "calibrated" if run_arrays.CALIBRATED in series else "discharge"
    flow = series[run_arrays.CALIBRATED if flow_of == "calibrated" else "discharge_quantiles"]
    shown = [at for at, level in enumerate(flow.axes["level"]) if level in ANSWER_LEVELS]
    names = [level_name(flow.axes["level"][at]) for at in shown]
    issued = in_units(flow.values[shown], basin, units)
    adjusted = in_units(stored.of_flow.adjusted(flow.values[shown]), basin, units)
    return AdjustedForecast(
        **_fields(session, stored),
        units={"issued": units, "adjusted": units},
        **days_ahead(run),
        flow_of=flow_of,
        issued={name: json_numbers.column(row) for name, row in zip(names, issued, strict=True)},
        adjusted={name: json_numbers.gappy_column(row) for name, row in zip(names, adjusted, strict=True)},
        window_days=min(run.days_to_come, WINDOW_DAYS),
        levels=maybe(_levels(session, stored, run, basin)),
    )


def _fields(session: Session, stored: StoredAdjustment) -> dict[str, Any]:
    t0 = runs.get(session, stored.run_id).t0
    return _STORED.values(stored) | {"t0": t0, "chances": stored.chances}


def _levels(
    session: Session, stored: StoredAdjustment, run: run_types.Run, basin: run_types.RunBasin
) -> list[AdjustedLevel] | Absent:
    if stored.levels is not None:
        return sorted((AdjustedLevel(**level) for level in stored.levels), key=lambda level: level.discharge)
    issued, adjusted = (
        outlooks.read_chances(session, [(run, basin)], following)[basin.basin_id].chances
        for following in ({}, {(run.id, basin.basin_id): stored})
    )
    if isinstance(issued, Absent):
        return issued
    assert not isinstance(adjusted, Absent)  # both come from the same run
    pairs = sorted(zip(issued, adjusted, strict=True), key=lambda pair: pair[0].discharge)
    return [
        AdjustedLevel(
            level=before.level,
            direction=before.direction,
            discharge=json_numbers.rounded(before.discharge),
            issued=json_numbers.rounded(before.chance),
            adjusted=json_numbers.rounded(after.chance),
        )
        for before, after in pairs
    ]


of_adjusted = run_table("adjusted", "Adjusted forecast of {0.basin}")


router = APIRouter(tags=["forecasts"], route_class=KeyFirstRoute)

AdjustmentId = Annotated[str, id_path("An adjustment's id.", "01a1fa31d0a6718d9e12f4")]
_NEW: dict[int | str, dict[str, Any]] = {201: {"model": AdjustedForecast, "description": "The draft."}}


@router.get(
    "/basins/{basin}/adjustments",
    summary="Published adjustments of a basin's forecasts",
    **documented_list(AdjustmentPage, basins.UnknownBasin, cache_control=SHORTLY),
)
def list_published_adjustments(
    session: Reading, basin: KnownBasin, page: Annotated[Listing, listing(AdjustmentPage)]
) -> Response:
    """What forecasters and measured flows changed of the basin's forecasts, newest first. Follow `next` until it
    is null."""
    found = adjustments.page(session, basin=basin, after=page.after, limit=page.sought)
    return page.of(found, lambda shown: [adjustment_answer(session, one) for one in shown])


@router.get(
    "/runs/{run}/basins/{basin}/adjusted",
    summary="A run's forecast of a basin as a forecaster published it",
    **documented_responses(AdjustedForecast, run_types.UnknownRun, NotAdjusted, NoArea, formats=SERIES),
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
    responses=_NEW | documented_writing(basins.UnknownBasin, run_types.UnknownRun, NoModel, NoForecast, NotAdjustable),
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


@router.post(
    "/basins/{basin}/updates",
    summary="Update the latest forecast by a measured flow",
    status_code=201,
    response_model=AdjustedForecast,
    responses=_NEW | documented_writing(basins.UnknownBasin, NoModel, NoForecast, NoArea, NotUpdatable),
)
def create_update(writer: ForecasterWriter, basin: BasinId, new: NewFlow) -> AdjustedForecast:
    """A flow that was measured within a day of the basin's latest forecast moves that forecast at once, by its own
    spread alone: no weather, no state. Every answer and page shows it with its time until the next issue replaces it.
    A flow that is not newer than the last one changes nothing, nor does any after a forecaster has published an
    adjustment: the answer is what stands. Alerts are decided by the next issue. With a forecaster's key."""
    now = writer.clock.now()
    with writer.database.transaction() as session:
        stored, is_new = updates.update(session, basin, new.at, new.discharge, writer.actor, now)
        if is_new:
            detail = {"basin": basin, "run": stored.run_id, "discharge": new.discharge}
            writer.record(session, "forecast updated", stored.id, **detail)
    with writer.database.reading() as session:
        return adjusted_forecast(session, stored)


def adjustment_for(session: Session, key: Key, adjustment: str) -> StoredAdjustment:
    """Return an adjustment for a forecaster, also before it is published; with a key for a region, of a basin there."""
    stored = adjustments.get(session, adjustment)
    regions.require_within(session, key.region, [stored.basin_id], key=key.name)
    return stored


@router.get(
    "/adjustments",
    summary="Adjustments of all basins, with drafts",
    **documented_list(AdjustmentPage, Unauthorized, Forbidden, basins.UnknownBasin, cache_control=NO_STORE),
)
def list_adjustments(
    session: Reading,
    key: ForecasterReader,
    page: Annotated[Listing, listing(AdjustmentPage)],
    basin: OptionalBasin = None,
) -> Response:
    """Drafts and published ones, newest first. With a forecaster's key, of one for a region those there. Follow `next`
    until it is null."""
    if basin is not None:
        basins.require(session, basin)
    found = adjustments.page(session, basin=basin, region=key.region, drafts=True, after=page.after, limit=page.sought)
    return page.of(found, lambda shown: [adjustment_answer(session, one) for one in shown])


@router.get(
    "/adjustments/{adjustment}",
    summary="An adjustment beside the forecast as issued",
    responses=documented(Unauthorized, Forbidden, OutsideRegion, UnknownAdjustment, NoArea),
    dependencies=[cached(NO_STORE)],
)
def read_adjustment(
    session: Reading, key: ForecasterReader, adjustment: AdjustmentId, units: DischargeUnits = "m3/s"
) -> AdjustedForecast:
    """A draft or a published adjustment. With a forecaster's key."""
    return adjusted_forecast(session, adjustment_for(session, key, adjustment), units)


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
        levels = adjusted_forecast(session, adjustment_for(session, writer.key, adjustment)).levels
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
        adjustments.remove(session, adjustment_for(session, writer.key, adjustment).id)
        writer.record(session, "adjustment deleted", adjustment)
