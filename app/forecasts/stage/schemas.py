"""Answers about forecasts of stage."""

from datetime import date

from pydantic import Field

from app.forecasts.schemas import DaysOfRun
from app.http.base_schema import Missing


class StageOfRun(DaysOfRun):
    """The latest forecast as stage."""

    rating_source: str | None = Field(description="Where the rating table is from.")
    rating_valid_from: date | None = Field(description="The first day that it holds for.")
    stage_of: str | None = Field(
        description="The origin of the published flow that is converted: `calibrated`, or `discharge` without it."
    )
    stage_ft: dict[str, list[float | None]] | None = Field(
        description="Stages by quantile, ft above the gauge's datum; null where the flow is outside the rating or null."
    )
    stage_m: dict[str, list[float | None]] | None = Field(description="The same in metres.")
    missing: Missing
