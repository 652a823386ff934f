"""The answer that compares a what-if run with the run without its changes."""

from pydantic import Field

from app.forecasts.schemas import Column, DaysOfRun, WaterBalance
from app.http.base_schema import Missing, Model, column


class Flow(Model):
    """Discharge of the members, and of their traces of weather, in the requested unit, not calibrated."""

    mean: Column = Field(description=column("Their mean"))
    p05: Column = Field(description=column("Their 5 % quantile"))
    p95: Column = Field(description=column("Their 95 % quantile"))


class Volume(Model):
    """Outflow over the horizon, mean of the members and their traces."""

    depth: float = Field(description="mm over the basin.")
    volume: float | None = Field(description="m³.")


class Side(Model):
    """The result of one of the two runs."""

    run: str
    discharge: Flow
    volume: Volume
    water_balance: WaterBalance | None


class WhatIfOfRun(DaysOfRun):
    """A what-if run and the run without its changes, side by side."""

    base: Side | None = Field(description="Without the changes.")
    changed: Side | None = Field(description="With them.")
    difference: Volume | None = Field(description="Additional outflow with the changes; negative: less.")
    missing: Missing
