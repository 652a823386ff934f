"""Answers about runs: when and by which model version they were computed, and their outcome."""

from collections.abc import Sequence
from datetime import date

from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, named_kind
from app.forecasts.header import WhatIf, what_if
from app.http.base_schema import Model, Program, next_page
from app.http.shown import As, model_of
from app.weather.schemas import WEATHER_USED
from hydrology.base.absent import text
from records.basins import ownership
from records.runs import run_types, runs
from records.runs.run_weather import RunWeather
from records.versions import versions

_STORED = As(
    omit=(
        *("weights_hash", "code_version", "program", "forcing_cutoff", "what_if", "owner", "members", "request_key"),
        *("t0_stale", "filled_days"),
    ),
    rename=(("version_id", "version"), ("is_official", "official"), ("member_count", "members")),
    parts=((RunWeather, WEATHER_USED),),
    exact=True,
)


class RunSummary(model_of(run_types.Run, _STORED)):  # type: ignore[misc]
    """A forecast run in a list."""

    what_if: WhatIf | None = Field(description="Its changes; null where its purpose is not `what-if`.")


class RunPage(Model):
    """Runs, the newest first."""

    runs: list[RunSummary]
    next: str | None = next_page("/v1/runs?limit=100&after=011cb6d1be80a1c3e5f709")


class BasinOfRun(Model):
    """Outcome of a run in a basin."""

    basin: str
    basin_kind: BasinKind
    status: run_types.BasinStatus
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
    return [RunSummary(**_STORED.values(run), what_if=what_if(run)) for run in stored]


def detail(session: Session, run: str) -> RunDetail:
    stored, of_basins = runs.get(session, run), runs.basins_of(session, run)
    owners = ownership.owners(session, [outcome.basin_id for outcome in of_basins])
    shown: RunDetail = RunDetail.from_records(
        stored,
        **_STORED.values(stored),
        what_if=what_if(stored),
        trained_on=versions.get(session, stored.version_id).trained_on,
        basins=[
            BasinOfRun.from_records(
                outcome,
                outcome.summary,
                basin_kind=named_kind(outcome.basin_id, owners.get(outcome.basin_id)),
                reason=text(outcome.reason),
            )
            for outcome in of_basins
        ],
    )
    return shown
