"""Answers about states."""

from datetime import date, datetime
from typing import Any

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, ReasonText, next_page


class StateSummary(Model):
    """The state of a basin at the end of a day: what the model's cells hold, of all members."""

    day: date = Field(description="The last day of weather in it.")
    product: str = Field(description="The weather that it was driven with.")
    sha256: str = Field(description="The fingerprint of the arrays of all members.")
    parent_day: date | None = Field(description="The day of the state it was advanced from.")
    parent_sha256: str | None = Field(description="The fingerprint of that state.")
    inputs_hash: str = Field(description="The fingerprint of the weather and attributes since then.")
    spin_up_days: int = Field(description="Days since the empty store.")
    storage_mm: list[float] | None = Field(description="The water in the basin, mm, of each member in their order.")
    created_at: datetime
    invalid_at: datetime | None = Field(description="Since when it may not be used; null while it is valid.")
    invalid_reason: ReasonText | None
    missing: Missing


class StatePage(Model):
    """States of a basin, the newest day first."""

    basin: str
    version: str = Field(description="The model version.")
    states: list[StateSummary]
    next: str | None = next_page("/v1/basins/USGS-01013500/states?limit=100&after=2008-04-21")


class StateArray(Model):
    """One array of a state."""

    dtype: str = Field(examples=["float32"])
    shape: list[int] = Field(description="Members first.", examples=[[10, 64]])
    values: list[Any] = Field(description="Nested lists, exact: the fingerprint can be computed again from them.")


class StateDetail(StateSummary):
    """A state with its arrays."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    members: list[str] = Field(description="The members' names, in the order of the arrays.")
    member_sha256: list[str] = Field(description="The fingerprint of the arrays of each member.")
    arrays: dict[str, StateArray] = Field(
        description="By name: `c` holds the water in each cell, mm, in networks that conserve mass."
    )
