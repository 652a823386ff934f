"""Jobs that score versions and verify forecasts."""

from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.uncertainty.error_model import MAX_GAP
from jobspec.fields import Basins, Id, PeriodField, RequestModel
from jobspec.jobs.base import CALIBRATION, COMPARISON, EVALUATION, LEVELS, REFORECAST, VERIFICATION, JobRequest


class EvaluationParams(RequestModel):
    """The version to score, and the days."""

    period: PeriodField = Field(description="The days to score.")
    version: Id | None = Field(None, description="By default the newest.")
    basins: Basins = Field([], description="By default the stored basins that the version learnt from.")


class EvaluationJob(JobRequest, authority=EVALUATION, part_basins=64):
    """Score a model version."""

    kind: Literal["evaluation"]
    params: EvaluationParams


class CalibrationParams(RequestModel):
    """The version whose error model to fit, and the days; or whose forecasts to recalibrate."""

    version: Id | None = Field(None, description="A model version; by default the newest.")
    period: PeriodField | None = Field(
        None,
        description="Days that the weights were not fitted to; by default the version's validation period.",
        examples=["1980-10-01..1989-09-30"],
    )
    basins: Basins = Field(
        [],
        description="By default the stored basins that the version learnt from. Others have no calibrated forecasts.",
    )
    forecasts: bool = Field(
        False,
        description="Whether to recalibrate the version's forecasts with each weather model by the flow that came "
        "after those it issued, instead.",
    )

    @model_validator(mode="after")
    def _of_days_or_of_forecasts(self) -> Self:
        if self.forecasts and (self.period is not None or self.basins):
            raise PydanticCustomError("forecasts", "`forecasts` uses all issued: leave `period` and `basins` out")
        return self


class CalibrationJob(JobRequest, authority=CALIBRATION, part_basins=64):
    """Fit the error model of a model version, replacing the last: forecasts then have calibrated quantiles."""

    kind: Literal["calibration"]
    params: CalibrationParams


class ReforecastParams(RequestModel):
    """The past forecasts to compute and verify."""

    period: PeriodField = Field(
        description="Days that neither the weights nor the error model of the version were fitted to.",
        examples=["1989-10-01..1999-09-30"],
    )
    version: Id | None = Field(None, description="A model version; by default the newest.")
    basins: Basins = Field([], description="By default the stored basins that the version learnt from.")
    every: int = Field(5, ge=1, le=366, description="Days from one forecast to the next.")
    horizon: int = Field(10, ge=1, le=MAX_GAP, description="Days after T0.")


class ReforecastJob(JobRequest, authority=REFORECAST, part_basins=64):
    """Forecast past days with observed weather, and store forecast skill by lead time."""

    kind: Literal["reforecast"]
    params: ReforecastParams


class VerificationParams(RequestModel):
    """The version whose issued forecasts to verify."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")


class VerificationJob(JobRequest, authority=VERIFICATION):
    """Verify the issued forecasts against later observations, and store their skill by lead time. Repeating it changes
    nothing without new flow or forecasts."""

    kind: Literal["verification"]
    params: VerificationParams


class LevelsParams(RequestModel):
    """The version to compute thresholds from, and the basins."""

    version: Id | None = Field(None, description="A model version; by default each that is current for a basin.")
    basins: Basins = Field([], description="By default those that it is current for or learnt from.")


class LevelsJob(JobRequest, authority=LEVELS, part_basins=64):
    """Simulate all past days with a model version, and store the floods and low flows of its own climatology,
    replacing earlier ones."""

    kind: Literal["levels"]
    params: LevelsParams


class ComparisonParams(RequestModel):
    """The versions to compare with the first of them, and the days."""

    period: PeriodField = Field(description="Days that took no part in the training of any of them.")
    versions: list[Id] = Field(
        min_length=1,
        max_length=20,
        description="The others are compared with the first.",
        examples=[["011cb6d0d4209b8d7f6a51"]],
    )
    basins: Basins = Field([], description="By default those that every version was trained for.")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.versions)) < len(self.versions):
            raise PydanticCustomError("twice", "a version is named twice: name each once")
        return self


class ComparisonJob(JobRequest, authority=COMPARISON, time_limit=timedelta(hours=24), part_basins=64):
    """Compare model versions."""

    kind: Literal["comparison"]
    params: ComparisonParams
