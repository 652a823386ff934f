"""Answers about seasonal volumes."""

from pydantic import Field

from app.forecasts.calibration_schemas import Calibration
from app.forecasts.schemas import RunOfBasin
from app.http.base_schema import Area, Missing, Model, Period

Exceeded = list[float]
PERCENTS = "one value for each of `exceeded_percent`"


class VolumeQuantiles(Model):
    """Volumes exceeded with given chances: of the whole season, and of its days after T0."""

    depth: Exceeded | None = Field(description=f"Of the whole season, mm, {PERCENTS}: the observed part included.")
    volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")
    percent_of_normal: Exceeded | None = Field(description=f"The same in % of the normal mean, {PERCENTS}.")
    ahead_depth: Exceeded = Field(description=f"Of the days after T0, mm, {PERCENTS}.")
    ahead_volume: Exceeded | None = Field(description=f"The same in million m³, {PERCENTS}.")


class ObservedVolume(Model):
    """The part of the season observed until T0."""

    period: Period
    days: int = Field(description="Number of observed days.")
    missing_days: int = Field(
        description="Number of days without observation; their water is not included in any number."
    )
    depth: float = Field(description="Of the observed days, mm.")
    volume: float | None = Field(description="The same in million m³.")


class NormalVolume(Model):
    """The volume of the season in other years with complete observations."""

    mean_depth: float = Field(description="mm.")
    median_depth: float = Field(description="mm.")
    mean_volume: float | None = Field(description="Million m³.")
    median_volume: float | None = Field(description="Million m³.")
    years: int = Field(description="Number of years; the season's own year is not included.")
    first_year: int = Field(description="The year in which the first season begins.")
    last_year: int


class VolumesOfRun(RunOfBasin):
    """A seasonal volume."""

    season: str = Field(description="The season, as days of every year.", examples=["04-01..07-31"])
    period: Period = Field(description="The season of this forecast: the first that had not ended at T0.")
    ahead: Period = Field(description="Its days after T0.")
    exceeded_percent: list[int] = Field(
        description="The chances with which the volumes are exceeded, %. 50 is the median, 90 a low volume."
    )
    area: Area | None = Field(description="The drainage area used for depths.")
    calibrated: VolumeQuantiles | None = Field(
        description="Corrected by the errors of past forecasts: from equally likely paths of calibrated flow."
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`; its flow in mm/day.")
    raw: VolumeQuantiles | None = Field(
        description="Of every member with every trace of weather: not calibrated, and overconfident."
    )
    observed: ObservedVolume | None
    normal: NormalVolume | None
    missing: Missing
