"""Answers about weather forecasts."""

from datetime import datetime

from pydantic import Field

from app.schema import Model


class WeatherUsed(Model):
    """A weather forecast that a run used."""

    id: str = Field(examples=["01a1f9952f438adb871a00"])
    source: str = Field(description="Who gave it.", examples=["open-meteo"])
    model: str = Field(description="What computed it.", examples=["ncep_gefs025"])
    reference_time: datetime = Field(description="When its computation began.")
    available_time: datetime = Field(description="From when on it could be read.")
    licence: str | None = Field(description="Of the source; null where it names none.")
    credit: str | None = Field(
        description="What is to be said of the source wherever this is shown; null where nothing."
    )
