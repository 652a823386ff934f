"""Answers about the volume of a season."""

from pydantic import ConfigDict, Field

from app.forecasts.schemas import Area, Calibration, RunOfBasin
from app.forecasts.volumes.example import VOLUMES
from app.http.base_schema import Missing, Model, Period

Exceeded = list[float]
PERCENTS = "one value for each of `exceeded_percent`"


class VolumeQuantiles(Model):
    """How much water a season brings at least, with a chance: of the whole season, and of its days after T0 alone."""

    depth: Exceeded | None = Field(
        description=f"Of the whole season, mm, {PERCENTS}: what was observed of it and more."
    )
    volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")
    percent_of_normal: Exceeded | None = Field(description=f"The same in % of the normal mean, {PERCENTS}.")
    ahead_depth: Exceeded = Field(description=f"Of the days after T0, mm, {PERCENTS}.")
    ahead_volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")


class ObservedVolume(Model):
    """What was observed of the season until T0."""

    period: Period
    days: int = Field(description="How many days of it were observed.")
    missing_days: int = Field(description="How many were not: their water is in no number here.")
    depth: float = Field(description="Of the observed days, mm.")
    volume: float | None = Field(description="The same in million m³.")


class NormalVolume(Model):
    """What the season brings in other years, of those that were observed whole."""

    mean_depth: float = Field(description="mm.")
    median_depth: float = Field(description="mm.")
    mean_volume: float | None = Field(description="Million m³.")
    median_volume: float | None = Field(description="Million m³.")
    years: int = Field(description="How many; the season's own is not among them.")
    first_year: int = Field(description="The season of the first of them begins in it.")
    last_year: int


class VolumesOfRun(RunOfBasin):
    """The volume of a season."""

    model_config = ConfigDict(json_schema_extra={"examples": [VOLUMES]})

    season: str = Field(description="The days of every year that are told.", examples=["04-01..07-31"])
    period: Period = Field(description="Those of this forecast: the first that had not ended at T0.")
    ahead: Period = Field(description="Those of them after T0.")
    exceeded_percent: list[int] = Field(
        description="The chances with which the volumes are exceeded, %. 50 is the median, 90 a low volume."
    )
    area: Area | None = Field(description="What depths are taken over.")
    calibrated: VolumeQuantiles | None = Field(
        description="As the errors of past forecasts let expect it: by equally likely courses of calibrated flow."
    )
    calibration: Calibration | None = Field(description="What `calibrated` rests on; its flow in mm/day.")
    raw: VolumeQuantiles | None = Field(
        description="Of every member with every trace of weather, as they are: not calibrated, and too sure."
    )
    observed: ObservedVolume | None
    normal: NormalVolume | None
    missing: Missing
