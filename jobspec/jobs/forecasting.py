"""Jobs that forecast."""

from datetime import UTC, time, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.calendar import STALE_AFTER_DAYS
from hydrology.weather.forcing_kinds import DESCRIBED, KINDS, ForcingKind
from jobspec.changes import UNCHANGED, Changes
from jobspec.fields import Basins, DayField, Id, Line, Name, PeriodField, RequestModel, SeasonField, examples, form
from jobspec.jobs.base import BACKFILL, DAILY, DAILY_PART, FORECAST, REPLAY, VOLUMES, WHAT_IF, JobRequest

MAX_HORIZON_DAYS = 366
MAX_PERTURBED_STATES = 50
ISSUE_TIME = time(14, tzinfo=UTC)
"""When a replayed day's forecasts are issued: before noon anywhere in the United States."""


SEASON_DAYS = 120
"""Number of past days whose weather forecasts are fetched by default."""
WeatherModel = Annotated[
    str,
    Field(
        pattern=form("^[^/\\s]{1,100}/[^/\\s]{1,100}$", "a source, a slash and a model, such as open-meteo/ecmwf_ifs"),
        description="Source and model of a weather forecast.",
    ),
]


T0 = Annotated[
    DayField | None, Field(description="The last day of the state; by default the newest that the data allow.")
]


class AheadParams(RequestModel):
    """The basins, days, version and weather of a forecast."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: T0 = None
    horizon: int = Field(10, ge=1, le=MAX_HORIZON_DAYS, description="Days after T0.")
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")
    product: Name | None = Field(None, description="The weather product that the version is expected to use.")
    weather: ForcingKind = Field("observed", description=DESCRIBED)
    weather_id: Id | None = Field(
        None, description="The weather forecast to use; by default the newest known one of each basin."
    )
    age: bool = Field(
        False,
        description="Whether to compute the season of origin of the discharge's water. This simulates the year before "
        "T0 again.",
    )

    @model_validator(mode="after")
    def _names_what_it_uses(self) -> Self:
        if self.weather_id is not None and not KINDS[self.weather].of_forecast:
            raise PydanticCustomError("weather_id", "`weather_id` goes with `weather` supplied alone")
        return self


class ForecastParams(AheadParams):
    """The forecasts to issue."""

    perturbed_states: int = Field(
        0,
        ge=0,
        le=MAX_PERTURBED_STATES,
        description="Number of perturbed initial states, from other past precipitation, used to split the spread into "
        "weights, weather and state; 0: no split.",
    )


class ForecastJob(JobRequest, authority=FORECAST, operational=True, time_limit=timedelta(hours=2), part_basins=256):
    """Issue forecasts. 256 basins or more are forecast in parts, each with runs and, where none is named, a T0 of its
    own."""

    model_config = examples({"kind": "forecast", "params": {"basins": ["USGS-13235000"], "horizon": 10}})

    kind: Literal["forecast"]
    params: ForecastParams


class WhatIfParams(AheadParams):
    """The forecast to compute, and the changes to it."""

    changes: Changes = UNCHANGED
    note: Line | None = Field(
        None,
        description="The purpose of the run, in a line. It is public: everybody who can read forecasts can read it.",
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
        """The forecast to change."""
        return ForecastParams(**{name: getattr(self, name) for name in AheadParams.model_fields})


class WhatIfJob(JobRequest, authority=WHAT_IF, time_limit=timedelta(hours=2)):
    """Forecast with other weather, or with more or less water in the basin at T0. Its runs are separate: the latest
    forecasts, alerts and states do not change."""

    model_config = examples(
        {
            "kind": "what-if",
            "params": {
                "basins": ["USGS-13235000"],
                "changes": {"degrees": 2.0, "increment": {"mm": 10.0, "where": "snow"}},
            },
        }
    )

    kind: Literal["what-if"]
    params: WhatIfParams


class VolumesParams(RequestModel):
    """The seasons whose volume to forecast."""

    basins: Basins = Field([], description="By default all that have a model version.")
    t0: T0 = None
    season: SeasonField | None = Field(
        None,
        description="The same days of every year; of those the first that have not ended at T0. By default April to "
        "July where half or more of the precipitation is snow, elsewhere the month of the first day after T0 and the "
        "two after it.",
    )
    version: Id | None = Field(None, description="A model version; by default the current one of each basin.")


class VolumesJob(JobRequest, authority=VOLUMES, operational=True, time_limit=timedelta(hours=4)):
    """Forecast a season's volume with the weather of other years. The latest forecasts do not change."""

    kind: Literal["volumes"]
    params: VolumesParams


class DailyParams(RequestModel):
    """The feeds and the horizon of the daily cycle."""

    feeds: list[Name] = Field([], max_length=100, description="Which feeds to ask, by name; by default all.")
    horizon: int = Field(10, ge=1, le=MAX_HORIZON_DAYS, description="Days after T0.")
    day: DayField | None = Field(
        None,
        description="A past day that lacks forecasts: they are issued late, with the data that had arrived by its end, "
        "and never become the latest. No feed is asked. By default today.",
    )


class DailyJob(JobRequest, authority=DAILY, operational=True, time_limit=timedelta(hours=4)):
    """Ask the feeds, apply the bridges to their data, and forecast every basin from its newest day, with the newest
    weather forecast or, without one, with the weather of other years. Repeating it stores nothing new."""

    kind: Literal["daily"]
    params: DailyParams


class DailyPartParams(RequestModel):
    """The basins of a part of a daily cycle: the feed to ask for their data, or the horizon of their forecasts."""

    basins: Basins
    feed: Name | None = None
    horizon: int
    day: DayField | None = None


class DailyPartJob(JobRequest, authority=DAILY_PART, time_limit=timedelta(hours=1), part_basins=256):
    """Fetch the data of some basins from a feed, or forecast them from their newest day. Only a daily cycle posts it.
    Repeating it stores nothing new."""

    kind: Literal["daily-part"] = "daily-part"
    params: DailyPartParams


class ReplayParams(RequestModel):
    """The issue days to replay, and what is known on each."""

    basins: Basins = Field([], description="By default all that have a model version.")
    period: PeriodField = Field(description="The issue days: forecasts are issued on each as if it were today.")
    latency_days: int = Field(
        1, ge=0, lt=STALE_AFTER_DAYS, description="Number of days until a past day's weather becomes known."
    )
    horizon: int = Field(10, ge=1, le=30, description="Days after T0.")
    traces: int = Field(11, ge=1, le=51, description="Traces of each day's forecast: perturbed observations.")


class ReplayJob(JobRequest, authority=REPLAY, part_basins=128):
    """Replay an archive as daily operation, with perturbed observations as weather forecasts. Repeating it stores
    nothing new."""

    kind: Literal["replay"]
    params: ReplayParams


class BackfillParams(RequestModel):
    """The past weather forecasts to fetch and reforecast."""

    feed: Name | None = Field(
        None,
        description="A feed of weather forecasts whose past issues to fetch: one of the adapter `open-meteo-forecast`.",
        examples=["ahead"],
    )
    weather: WeatherModel | None = Field(
        None,
        description="Instead of a feed, a weather model whose past issues are stored already, as `SOURCE/MODEL`.",
        examples=["open-meteo/ecmwf_ifs"],
    )
    days: int = Field(
        SEASON_DAYS, ge=3, le=1100, description="Number of days before today whose issues to use, one a day."
    )
    horizon: int = Field(10, ge=1, le=30, description="Days after T0 of each reforecast.")

    @model_validator(mode="after")
    def _of_a_feed_or_of_stored_issues(self) -> Self:
        if (self.feed is None) == (self.weather is None):
            raise PydanticCustomError("feed", "either `feed` or `weather` is needed: name one of them")
        return self


class BackfillJob(JobRequest, authority=BACKFILL):
    """Fetch past weather forecasts of a feed, compute the forecasts of those days with them, and recalibrate
    forecasts by what came. Repeating it fetches and computes only what is missing."""

    kind: Literal["backfill"]
    params: BackfillParams
