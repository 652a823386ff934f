"""Jobs that look ahead."""

from datetime import UTC, time, timedelta
from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.staleness import STALE_AFTER_DAYS
from hydrology.weather.forcing import ForcingKind
from jobspec.authority import DAILY, FORECAST, REPLAY, VOLUMES, WHAT_IF
from jobspec.changes import UNCHANGED, Changes
from jobspec.fields import Basins, DayField, Id, Line, Name, PeriodField, RequestModel, SeasonField
from jobspec.jobs.base import JobRequest

MAX_HORIZON_DAYS = 366
MAX_PERTURBED_STATES = 50
ISSUE_TIME = time(14, tzinfo=UTC)
"""When a replayed day's forecasts are issued: in the morning anywhere in the United States."""


class AheadParams(RequestModel):
    """What to look ahead of: the basins, the days, the version and the weather."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: DayField | None = Field(
        None, description="The last day of the state; by default the newest that the data allow."
    )
    horizon: int = Field(10, ge=1, le=MAX_HORIZON_DAYS, description="Days after T0.")
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")
    product: Name | None = Field(None, description="The weather product that the version is expected to take.")
    weather: ForcingKind = Field(
        "observed",
        description="The weather after T0. `observed`: a hindcast. `supplied`: a weather forecast. `climatology`: the "
        "weather of the same days in every other year. `dry`: no precipitation, and of all else their mean: what would "
        "run off of the water that is there.",
    )
    weather_id: Id | None = Field(
        None, description="Which weather forecast to use; by default the newest of each basin that was known."
    )
    age: bool = Field(
        False,
        description="Whether to tell in which season the water of the discharge fell. The year before T0 is run again "
        "for it.",
    )

    @model_validator(mode="after")
    def _names_what_it_uses(self) -> Self:
        if self.weather_id is not None and self.weather != "supplied":
            raise PydanticCustomError("weather_id", "`weather_id` goes with `weather` supplied alone")
        return self


class ForecastParams(AheadParams):
    """Which forecasts to issue."""

    perturbed_states: int = Field(
        0,
        ge=0,
        le=MAX_PERTURBED_STATES,
        description="From so many other states of T0, after other precipitation in the past, it is computed too, and "
        "its spread divided into what the weights, the weather and the state make of it; 0: it is not divided.",
    )


class ForecastJob(JobRequest):
    """Issue forecasts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "forecast", "params": {"basins": ["USGS-13235000"], "horizon": 10}}]}
    )

    operational = True
    time_limit = timedelta(hours=2)
    authority = FORECAST

    kind: Literal["forecast"]
    params: ForecastParams


class WhatIfParams(AheadParams):
    """Which forecasts to make, and what to change in them."""

    changes: Changes = UNCHANGED
    note: Line | None = Field(
        None, description="Why it is asked, in a line. It is public: everybody who can read forecasts can read it."
    )

    @model_validator(mode="after")
    def _storm_within_the_horizon(self) -> Self:
        storm = self.changes.storm
        if storm is not None and storm.lead > self.horizon:
            raise PydanticCustomError(
                "storm",
                "the storm falls {lead} days after T0, beyond the horizon of {horizon}: choose an earlier day, or a "
                "longer horizon",
                {"lead": storm.lead, "horizon": self.horizon},
            )
        return self

    @property
    def forecast(self) -> ForecastParams:
        """The forecast in which something is to be changed."""
        return ForecastParams(**{name: getattr(self, name) for name in AheadParams.model_fields})


class WhatIfJob(JobRequest):
    """Forecast what would be with other weather, or with more or less water in the basin at T0. It is kept apart: the
    latest forecasts, alerts and states stay what they are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "what-if",
                    "params": {
                        "basins": ["USGS-13235000"],
                        "changes": {"degrees": 2.0, "increment": {"mm": 10.0, "where": "snow"}},
                    },
                }
            ]
        }
    )

    time_limit = timedelta(hours=2)
    authority = WHAT_IF

    kind: Literal["what-if"]
    params: WhatIfParams


class VolumesParams(RequestModel):
    """Of which seasons to forecast the volume."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: DayField | None = Field(
        None, description="The last day of the state; by default the newest that the data allow."
    )
    season: SeasonField | None = Field(
        None,
        description="The same days of every year; of those the first that have not ended at T0. By default April to "
        "July where half or more of the precipitation is snow, elsewhere the month of the first day after T0 and the "
        "two after it.",
    )
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")


class VolumesJob(JobRequest):
    """Forecast the volume of a season with the weather of other years. The latest forecasts stay what they are."""

    operational = True
    time_limit = timedelta(hours=4)
    authority = VOLUMES

    kind: Literal["volumes"]
    params: VolumesParams


class DailyParams(RequestModel):
    """What the daily cycle asks and forecasts."""

    feeds: list[Name] = Field([], max_length=100, description="Which feeds to ask, by name; by default all.")
    horizon: int = Field(10, ge=1, le=MAX_HORIZON_DAYS, description="Days after T0.")


class DailyJob(JobRequest):
    """Ask the feeds, apply the bridges from what they bring, and forecast every basin from its newest day, with the
    newest weather forecast or, without one, with the weather of other years. Asked again, it stores nothing new."""

    operational = True
    time_limit = timedelta(hours=4)
    authority = DAILY

    kind: Literal["daily"]
    params: DailyParams


class ReplayParams(RequestModel):
    """Which mornings to replay, and what is known on each."""

    period: PeriodField = Field(description="The mornings: forecasts are issued on each as if it were today.")
    latency_days: int = Field(
        1, ge=0, lt=STALE_AFTER_DAYS, description="So many days after it has ended, a day's weather becomes known."
    )
    horizon: int = Field(10, ge=1, le=30, description="Days after T0.")
    traces: int = Field(11, ge=1, le=51, description="Of each morning's weather forecast: perturbed observations.")


class ReplayJob(JobRequest):
    """Replay an archive as if it were daily life, with perturbed observations as weather forecasts. Asked again, it
    stores nothing new."""

    authority = REPLAY

    kind: Literal["replay"]
    params: ReplayParams
