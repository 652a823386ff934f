"""Answers about runs."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from app.basins.schemas import BasinKind
from app.forecasts.schemas import T0_AGE, T0_NOTE, WhatIf
from app.http.base_schema import Model, Program, next_page
from app.weather.schemas import WeatherUsed
from hydrology.weather.forcing_kinds import DESCRIBED, ForcingKind
from records.runs.run_types import BasinStatus, Purpose


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
