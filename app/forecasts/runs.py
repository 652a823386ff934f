"""/v1/runs: when and by which model version runs were computed, and their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.basins import BasinKind, named_kind
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.forecasts.header import T0_AGE, T0_NOTE, WhatIf, weather_used, what_if
from app.http.base_schema import Model, Program, next_page
from app.http.conditional import FOR_EVER
from app.http.dependencies import AsKnown, IdPage, OptionalBasin, OptionalInstant, OptionalVersion, Reading, RunId
from app.http.problems import documented
from app.weather.weather import WeatherUsed
from hydrology.base.absent import text
from hydrology.base.calendar import as_date
from hydrology.weather.forcing_kinds import DESCRIBED, ForcingKind
from jobspec.fields import DayField
from records.basins import basins, ownership
from records.basins.basins import UnknownBasin
from records.database.stored import as_values
from records.runs import run_types, runs
from records.runs.run_types import BasinStatus, Purpose, UnknownRun
from records.versions import versions
from records.versions.versions import UnknownVersion


class RunSummary(Model):
    """A forecast run in a list."""

    id: str
    version: str = Field(description="The model version.")
    purpose: Purpose
    official: bool = Field(description="Whether the service itself, an admin or a schedule of theirs asked for it.")
    what_if: WhatIf | None = Field(description="Its changes; null where its purpose is not `what-if`.")
    status: Literal["issued", "partial", "failed"] = Field(
        description="`issued`: for every basin. `partial`: for some. `failed`: for none."
    )
    reason: str | None = Field(description="Why it was not issued for every basin; null where it was.")
    t0: date = Field(description="The last day that the model's states have consumed.")
    t0_age_days: int = Field(description=T0_AGE)
    t0_note: str | None = Field(description=f"{T0_NOTE} Null elsewhere.")
    horizon_days: int
    issued_at: datetime = Field(description="When it was issued, by the service's clock.")
    available_at: datetime = Field(description="Readable since this instant.")
    created_at: datetime = Field(description="When it was computed, by the machine's clock.")
    product: str = Field(description="The weather product that drives the model.")
    forcing_kind: ForcingKind = Field(description=DESCRIBED)
    weather: WeatherUsed | None = Field(description="The weather forecast behind it; null where none was used.")
    members: int = Field(description="Number of networks in the ensemble.")


class RunPage(Model):
    """Runs, the newest first."""

    runs: list[RunSummary]
    next: str | None = next_page("/v1/runs?limit=100&after=011cb6d1be80a1c3e5f709")


class BasinOfRun(Model):
    """Outcome of a run in a basin."""

    basin: str
    basin_kind: BasinKind
    status: BasinStatus
    reason: str | None = Field(description="Why nothing was issued; null where it was.")
    seen_in_training: bool | None = Field(
        description="Whether the model version learnt from it; null where the run did not come so far."
    )
    attributes_assumed: list[str] | None = Field(
        description="The attributes of the basin that were assumed because they are not known; null likewise."
    )


class RunDetail(RunSummary):
    """A run and its outcome in each basin."""

    forcing_cutoff: date | None = Field(description="The last day of observed weather used; null where none was.")
    weights_hash: str
    code_version: str
    program: Program
    trained_on: str = Field(description="The weather product that the model version learnt from.")
    basins: list[BasinOfRun]


def summaries(stored: Sequence[run_types.Run]) -> list[RunSummary]:
    """Return runs as in a list."""
    return [RunSummary(**_common_fields(run)) for run in stored]


def detail(session: Session, run: str) -> RunDetail:
    """Return a run with its outcome in each basin."""
    stored, of_basins = runs.get(session, run), runs.basins_of(session, run)
    owners = ownership.owners(session, [outcome.basin_id for outcome in of_basins])
    return RunDetail(
        **_common_fields(stored),
        forcing_cutoff=None if stored.forcing_cutoff is None else as_date(stored.forcing_cutoff),
        weights_hash=stored.weights_hash,
        code_version=stored.code_version,
        program=stored.program,
        trained_on=versions.get(session, stored.version_id).trained_on,
        basins=[
            BasinOfRun(
                basin=outcome.basin_id,
                basin_kind=named_kind(outcome.basin_id, official=outcome.basin_id not in owners),
                status=outcome.status,
                reason=text(outcome.reason),
                seen_in_training=outcome.summary.seen_in_training,
                attributes_assumed=_listed(outcome.summary.attributes_assumed),
            )
            for outcome in of_basins
        ],
    )


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _common_fields(run: run_types.Run) -> dict[str, Any]:
    times = ("t0_age_days", "t0_note", "issued_at", "available_at", "created_at")
    names = ("id", "purpose", "status", "horizon_days", "product", "forcing_kind")
    return {name: getattr(run, name) for name in (*names, *times)} | {
        "reason": text(run.reason),
        "version": run.version_id,
        "official": run.owner is None,
        "what_if": what_if(run),
        "t0": as_date(run.t0),
        "weather": weather_used(run),
        "members": len(run.members),
    }


router = APIRouter(prefix="/runs", tags=["forecasts"])

T0From = Annotated[DayField | None, Query(description="Only with T0 on this day or later.", examples=["2008-04-01"])]
T0To = Annotated[DayField | None, Query(description="Only with T0 on this day or earlier.", examples=["2008-07-31"])]
IssuedAfter = Annotated[
    OptionalInstant,
    Query(description="Only issued after this instant (RFC 3339, with its offset).", examples=["2008-04-21T06:00:00Z"]),
]
WithPurpose = Annotated[Purpose | None, Query(description="Only runs with this purpose.")]


@dataclass(frozen=True, slots=True)
class RunFilters:
    """Filters of the list of runs; None: no filter."""

    basin: OptionalBasin = None
    version: OptionalVersion = None
    purpose: WithPurpose = None
    t0_from: T0From = None
    t0_to: T0To = None
    issued_after: IssuedAfter = None


@router.get(
    "",
    summary="List forecast runs",
    response_model=schema_of(RunPage),
    responses=documented(UnknownBasin, UnknownVersion),
)
def list_runs(
    session: Reading,
    filters: Annotated[RunFilters, Depends()],
    at: AsKnown,
    page: IdPage,
    fields: Annotated[FieldFilter, fields_of(RunPage)],
) -> Response:
    """The runs that are available by the service's clock, the newest first, a page at a time: follow `next` until it
    is null. With `known_at` those that were available by then; a run never changes."""
    if filters.basin is not None:
        basins.require(session, filters.basin)
    if filters.version is not None:
        versions.get(session, filters.version)
    found = runs.list_runs(session, **as_values(filters), available_by=at, after=page.after, limit=page.sought)
    shown, following = page.cut(found)
    return fields.of(RunPage(runs=summaries(shown), next=following))


@router.get("/{run}", summary="Outcome of a run, basin by basin", **documented_responses(RunDetail, UnknownRun))
def read_run(session: Reading, run: RunId, answer: JsonAnswer) -> Response:
    """Time of the run, its model version and weather, and for every basin whether a forecast was issued or why not. A
    run never changes, so it may be cached forever."""
    return answer.of(detail(session, run), cache_control=FOR_EVER)
