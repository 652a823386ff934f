"""A weather forecast as a JSON document, as people send it and a job reads it."""

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field

from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES
from jobspec.faults import form
from jobspec.fields import MAX_BASINS, DayField, Line, Name, Printable, RequestModel

Variable = Annotated[str, Field(pattern=form("^[a-z]{1,32}$", "1 to 32 small letters, such as precipitation"))]
Values = Annotated[list[float | None], Field(max_length=MAX_LEADS)]


class TracesOfBasin(RequestModel):
    """The traces of one basin, over the same days."""

    time: list[DayField] = Field(max_length=MAX_LEADS, description="The valid days: calendar days at the gauge.")
    traces: dict[Name, dict[Variable, Values]] = Field(
        max_length=MAX_TRACES, description="By label of the trace, the value of each variable on each day."
    )


class WeatherDocument(RequestModel):
    """A weather forecast for any basins."""

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

    source: Name = Field(description="The institution that issues it.")
    model: Name = Field(description="The model that computed it.")
    reference_time: AwareDatetime = Field(description="The start of its computation.")
    available_time: AwareDatetime | None = Field(
        None, description="When it became available; by default when it is sent."
    )
    licence: Line | None = None
    credit: Line | None = Field(None, description="Credit of the source, shown with every answer that uses it.")
    units: dict[Variable, Annotated[str, Printable, Field(max_length=16)]] = Field(description="Of each variable.")
    basins: dict[str, TracesOfBasin] = Field(max_length=MAX_BASINS, description="By identifier.")
