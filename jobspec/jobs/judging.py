"""Jobs that tell how good versions and forecasts are."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.uncertainty.error_model import MAX_GAP
from jobspec.authority import CALIBRATION, COMPARISON, EVALUATION, LEVELS, REFORECAST, VERIFICATION
from jobspec.fields import Basins, Id, PeriodField, RequestModel
from jobspec.jobs.base import JobRequest


class EvaluationParams(RequestModel):
    """Which version to score, and on which days."""

    period: PeriodField
    version: Id | None = Field(None, description="By default the newest.")
    basins: Basins = Field([], description="By default those kept here that the version learnt from.")


class EvaluationJob(JobRequest):
    """Score a model version."""

    authority = EVALUATION

    kind: Literal["evaluation"]
    params: EvaluationParams


class CalibrationParams(RequestModel):
    """Whose error model to fit, and on which days."""

    version: Id | None = Field(None, description="A model version; by default the newest.")
    period: PeriodField | None = Field(
        None,
        description="Days that the weights were not fitted to; by default the version's validation period.",
        examples=["1980-10-01..1989-09-30"],
    )
    forecasts: bool = Field(
        False,
        description="Whether to fit it to the forecasts that the version has issued with weather forecasts, for each "
        "weather model, instead of its simulation.",
    )

    @model_validator(mode="after")
    def _of_a_period_or_of_forecasts(self) -> Self:
        if self.forecasts and self.period is not None:
            raise PydanticCustomError("period", "`forecasts` are all that have been issued: leave `period` out")
        return self


class CalibrationJob(JobRequest):
    """Fit the error model of a model version, in place of the one before: forecasts then carry calibrated quantiles."""

    authority = CALIBRATION

    kind: Literal["calibration"]
    params: CalibrationParams


class ReforecastParams(RequestModel):
    """Which past forecasts to hold against what was observed."""

    period: PeriodField = Field(
        description="Days that neither the weights nor the error model of the version were fitted to.",
        examples=["1989-10-01..1999-09-30"],
    )
    version: Id | None = Field(None, description="A model version; by default the newest.")
    basins: Basins = Field([], description="By default those kept here that the version learnt from.")
    every: int = Field(5, ge=1, le=366, description="So many days lie between two forecasts.")
    horizon: int = Field(10, ge=1, le=MAX_GAP, description="Days after T0.")


class ReforecastJob(JobRequest):
    """Forecast past days with the weather that came, and keep how true the forecasts were by lead time."""

    authority = REFORECAST

    kind: Literal["reforecast"]
    params: ReforecastParams


class VerificationParams(RequestModel):
    """Whose issued forecasts to hold against what was observed since."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")


class VerificationJob(JobRequest):
    """Hold the forecasts that were issued against what was observed since, and keep how true they were by lead time.
    Asked again, it changes nothing unless flow or forecasts have come since."""

    authority = VERIFICATION

    kind: Literal["verification"]
    params: VerificationParams


class LevelsParams(RequestModel):
    """Of which version's simulation to compute the levels, and where."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")
    basins: Basins = Field([], description="By default those that it is current for, or that it learnt from.")


class LevelsJob(JobRequest):
    """Simulate all past days with a model version, and keep the floods and low flows of its own climatology, in place
    of those before."""

    authority = LEVELS

    kind: Literal["levels"]
    params: LevelsParams


class ComparisonParams(RequestModel):
    """Which versions to compare with the first of them, and on which days."""

    period: PeriodField = Field(description="Days that took no part in the training of any of them.")
    versions: list[Id] = Field(min_length=1, max_length=20, examples=[["011cb6d0d4209b8d7f6a51"]])
    basins: Basins = Field([], description="By default those that every version was trained for.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.versions)) < len(self.versions):
            raise PydanticCustomError("twice", "a version is named twice: name each once")
        return self


class ComparisonJob(JobRequest):
    """Compare model versions."""

    time_limit = timedelta(hours=24)
    authority = COMPARISON

    kind: Literal["comparison"]
    params: ComparisonParams
