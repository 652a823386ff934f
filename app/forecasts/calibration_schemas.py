"""Answers about what calibrated quantiles rest on."""

from datetime import date

from pydantic import Field

from app.http.base_schema import Model
from records.runs.run_summary import CalibrationKind


class Recalibration(Model):
    """How the distribution is recalibrated by the flow that came after past forecasts with the weather model."""

    fitted_on: str | None = Field(
        description="The period of the T0 it was fitted to. Null where too few have been observed: it is assumed.",
        examples=["1996-05-20..1996-09-30"],
    )
    issue_days: int = Field(description="Number of those T0.")
    reforecast_days: int = Field(
        description="Number of them without an issued forecast: computed later, with a past weather forecast."
    )
    weight: float = Field(description="From 0 to 1: the weight of what came after them, against what is assumed.")
    centre: list[float] = Field(
        description="By lead, how far what came lay from the middle of the forecasts, as a value of a standard normal "
        "distribution: above 0, forecasts are raised."
    )
    spread: list[float] = Field(
        description="By lead, the width that the distribution is multiplied by, between such values."
    )


class Calibration(Model):
    """The error model behind calibrated quantiles, and the observed flow it starts from."""

    kind: CalibrationKind = Field(
        description="What the distribution rests on. `observed`: the errors of simulations with observed weather. "
        "`provisional`: those, and the errors of the weather forecast. `fitted`: recalibrated by what came after "
        "the forecasts that were issued with the weather model. `backfilled`: the same, most of them reforecasts with "
        "its past issues."
    )
    hash: str = Field(description="Hash of the error model of simulations.")
    weather: str = Field(
        description="Weather that drives the run: `observed`, or a weather forecast's source and model."
    )
    weather_issues: int | None = Field(
        description="Number of past issues of the weather model behind the errors of the weather forecast; 0: they are "
        "assumed. Null without a weather forecast."
    )
    recalibration: Recalibration | None = Field(description="Null without a weather forecast.")
    fitted_on: str = Field(description="The period of fitting.", examples=["1980-10-01..1989-09-30"])
    own_days: int = Field(
        description="Number of observed days of this basin used in fitting; 0 for the model of all basins together."
    )
    last_observed_day: date | None = Field(description="The day of the last observed flow, which it starts from.")
    last_observed: float | None = Field(description="That flow, in the unit of `discharge`.")
    last_simulated: float | None = Field(description="The flow that the run has for that day, in the same unit.")
