"""The kinds of weather after T0: a new kind is an entry of `KINDS`, its name, and the function that reads it.

The function is one of `operations.forecasting.weather_ahead.READERS`; the database checks the names (`migrations/`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from hydrology.base.reasons import Reason

ForcingKind = Literal["observed", "supplied", "climatology", "dry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherKind:
    """All that depends on the kind of a run's weather after T0.

    Attributes:
        described: the kind, for the description of a parameter or a field.
        label: its weather, in a few words, for a form.
        note: what drives the run, in a sentence for answers.
        in_words: the condition of a forecast on it, the end of a sentence.
        of_record: whether it is the observed weather of the basin's record, which has to reach over the days ahead.
        of_forecast: whether it comes from a stored weather forecast, which the run names.
        hypothetical: whether nobody expects it: runs on it are what-if runs, never forecasts.
        uncalibrated, without_volume: why its runs are not calibrated, or have no volume; None where they do.
    """

    described: str
    label: str
    note: str
    in_words: str
    of_record: bool = False
    of_forecast: bool = False
    traces: bool = False
    hypothetical: bool = False
    uncalibrated: Reason | None = None
    without_volume: Reason | None = None


KINDS: Mapping[ForcingKind, WeatherKind] = MappingProxyType(
    {
        "observed": WeatherKind(
            described="a hindcast, driven by observed weather",
            label="what was observed",
            note="A hindcast: driven by the weather observed after T0, which was not known at T0.",
            in_words="with observed weather (a hindcast)",
            of_record=True,
            without_volume=Reason.HINDCAST_VOLUME,
        ),
        "supplied": WeatherKind(
            described="a weather forecast",
            label="a weather forecast",
            note="Driven by a weather forecast for the days after T0.",
            in_words="with a weather forecast",
            of_forecast=True,
            traces=True,
        ),
        "climatology": WeatherKind(
            described="the weather of the same days in every other year",
            label="other years'",
            note="Driven by the weather of other years for the days after T0.",
            in_words="with the weather of other years",
            traces=True,
        ),
        "dry": WeatherKind(
            described="no precipitation, and the mean of other years for all else: hypothetical",
            label="no precipitation",
            note="Hypothetical dry weather: no precipitation after T0, and the mean of other years for all else. It is "
            "not a forecast.",
            in_words="if no more rain or snow fell",
            hypothetical=True,
            uncalibrated=Reason.HYPOTHETICAL_WEATHER,
            without_volume=Reason.DRY_VOLUME,
        ),
    }
)

DESCRIBED = "The weather after T0. " + " ".join(f"`{name}`: {kind.described}." for name, kind in KINDS.items())
"""The description of a parameter or a field that names a kind."""
