"""A weather forecast as a JSON document: what people send, and what a job reads."""

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field

from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES
from jobspec.fields import MAX_BASINS, DayField, Line, Name, RequestModel

Variable = Annotated[str, Field(pattern="^[a-z]{1,32}$")]
Values = Annotated[list[float | None], Field(max_length=MAX_LEADS)]


class TracesOfBasin(RequestModel):
    """The traces of one basin, over the same days."""

    time: list[DayField] = Field(max_length=MAX_LEADS, description="The valid days: calendar days where the gauge is.")
    traces: dict[Name, dict[Variable, Values]] = Field(
        max_length=MAX_TRACES, description="By the label of the trace, each variable's value on each day."
    )


class WeatherDocument(RequestModel):
    """A weather forecast of whatever basins."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "source": "our-own",
                    "model": "two-guesses",
                    "reference_time": "2026-11-22T00:00:00Z",
                    "units": {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"},
                    "basins": {
                        "OWN-mill": {
                            "time": ["2026-11-22", "2026-11-23"],
                            "traces": {
                                "dry": {"precipitation": [0.0, 0.5], "tmax": [9.0, 8.5], "tmin": [1.0, 0.5]},
                                "wet": {"precipitation": [7.5, 12.0], "tmax": [8.0, 7.0], "tmin": [2.0, 1.5]},
                            },
                        }
                    },
                }
            ]
        }
    )

    source: Name = Field(description="Who gives it.")
    model: Name = Field(description="What computed it.")
    reference_time: AwareDatetime = Field(description="When its computation began.")
    available_time: AwareDatetime | None = Field(
        None, description="From when on it could be read; by default from when it is sent."
    )
    licence: Line | None = None
    credit: Line | None = Field(
        None, description="What is to be said of the source with every answer that rests on it."
    )
    units: dict[Variable, Annotated[str, Field(max_length=16)]] = Field(description="Of each variable.")
    basins: dict[str, TracesOfBasin] = Field(max_length=MAX_BASINS, description="By identifier.")
