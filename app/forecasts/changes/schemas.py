"""Answers about the change of a forecast."""

from datetime import date
from typing import Literal

from pydantic import Field

from app.forecasts.schemas import DaysOfRun
from app.http.base_schema import Missing, Model, column

ChangeOf = Literal["calibrated median", "mean of the members"]


class PreviousRun(Model):
    """The run that a forecast is compared with."""

    run: str
    version: str = Field(description="Its model version.")
    t0: date


class ChangeByCause(Model):
    """A change of discharge by its causes. Each column has one value for each day of `time`."""

    revised_data: list[float] | None = Field(
        description=column("Revised weather before the previous T0: the state of that day, computed again")
    )
    observed_weather: list[float] | None = Field(
        description=column("The weather from the previous T0 to this one, as observed and not as forecast")
    )
    weather_forecast: list[float] | None = Field(
        description=column("The new weather forecast of the days ahead, in place of the previous one")
    )
    model_version: list[float] | None = Field(
        description=column(
            "Another model version, or other weather products of a version that combines others: one that came, or is "
            "missing now"
        )
    )
    observed_flow: list[float] | None = Field(
        description=column(
            "The calibrated correction, which starts from the last observed flow: calibrated median less mean of the "
            "members. Null where not both runs are calibrated"
        )
    )


class Rain(Model):
    """Precipitation behind a change, mm, the mean of the traces."""

    observed: float = Field(description="From the previous T0 to this one, as observed.")
    expected: float = Field(description="The same days, as the previous forecast expected.")
    ahead: float = Field(description="On the days of `time`, by this forecast.")
    ahead_before: float = Field(description="The same days, by the previous forecast.")


class ChangeOfRun(DaysOfRun):
    """Why a forecast differs from the previous one on the days that both hold."""

    previous: PreviousRun | None = Field(
        description="The newest operational run from an earlier T0, of at most 10 days before."
    )
    change_of: ChangeOf | None = Field(description="The compared flow: calibrated where both runs are.")
    before: list[float] | None = Field(description=column("Discharge by the previous forecast"))
    after: list[float] | None = Field(description=column("Discharge by this forecast"))
    change: list[float] | None = Field(description=column("`after` less `before`"))
    parts: ChangeByCause | None = Field(
        description="The change by cause, from reruns of the previous forecast with one input after the other "
        "replaced, in the order of the fields. They add up to the change."
    )
    interaction: ChangeByCause | None = Field(
        description="By how much the parts depend on that order: `parts` less the same in the opposite order. Over the "
        "causes it adds up to 0."
    )
    precipitation: Rain | None
    in_words: str | None = Field(description="The largest change in a sentence.")
    missing: Missing
