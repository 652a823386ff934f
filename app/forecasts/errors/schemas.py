"""Answers about the errors of verified forecasts."""

from datetime import date, datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, OfBasin, Period
from hydrology.attribution.forecast_error import Measure
from hydrology.verification.results import Season


class ErrorParts(Model):
    """The error of a forecast in one number, and its parts, which add up to it."""

    observed: float = Field(description="By the observed flow.")
    error: float = Field(description="Forecast less observed.")
    weather: float = Field(description="Of the weather after T0: the forecast less the same with observed weather.")
    initial_state: float = Field(
        description="Of the state of T0: the same with observed weather, less that from the state by data as revised "
        "since."
    )
    network: float = Field(description="The error that is left with observed weather from the revised state.")


class ForecastError(OfBasin):
    """The error of a run's forecast of a basin over its days ahead."""

    basin_kind: BasinKind
    run: str
    version: str = Field(description="The model version.")
    t0: date
    days: Period = Field(description="The days ahead.")
    weather: str = Field(
        description="After T0: `observed`, `climatology`, or a weather forecast, by its source and model."
    )
    volume: ErrorParts = Field(description="The volume of all days, mm over the basin.")
    peak: ErrorParts = Field(description="The highest day of the mean of members and traces, mm/day.")
    in_words: str = Field(description="The same in a sentence, of the measure asked for.")
    verified_at: datetime


class MeanSizes(Model):
    """The mean size of an error and of its parts, over forecasts. Sizes do not add up: parts cancel each other."""

    error: float
    weather: float
    initial_state: float
    network: float


class MeanErrors(Model):
    """Mean sizes by measure."""

    volume: MeanSizes = Field(description="mm.")
    peak: MeanSizes = Field(description="mm/day.")


class WorstErrors(Model):
    """The forecasts with the largest errors, and the mean size of all."""

    of: Measure
    season: Season
    forecasts: int = Field(description="Number of verified forecasts, of which these are the worst.")
    means: MeanErrors | None = Field(description="The mean size of their errors and parts.")
    cases: list[ForecastError] = Field(
        description="The largest error first. Of forecasts of a basin whose days overlap only the worst is listed."
    )
    missing: Missing
