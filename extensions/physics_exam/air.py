"""Experiments with the temperature of the air, and with its energy."""

import numpy as np

from extensions.physics_exam import weather
from extensions.physics_exam.exam import NOT_ASKED, YEAR, Exam, Numbers, Question, experiment

CHANGE = 3.0  # degC
SNOW_MEAN, RAIN_MEAN = -5.0, 5.0  # degC, of the days around the storm
STORM_MM, EVENT_DAYS = 30.0, 5
STORM_DAY = 107  # in January where the examined days begin with a water year
ENOUGH_SNOW = 0.05  # of precipitation


@experiment(
    Question(
        "warming",
        "how far the runoff of all days rises in air 3 degC warmer of the same relative humidity, as a share of "
        "precipitation",
        "1",
        0.001,
        "Warmer air evaporates more of the same precipitation.",
    ),
    Question(
        "cooling",
        "how far the runoff of all days falls in air 3 degC cooler of the same relative humidity, as a share of "
        "precipitation",
        "1",
        0.001,
        "Cooler air evaporates less of the same precipitation.",
    ),
)
def other_air(exam: Exam) -> tuple[Numbers, ...]:
    """Warm and cool the air at the same relative humidity; return the figures of both."""
    return _rise(exam, CHANGE), -_rise(exam, -CHANGE)


def _rise(exam: Exam, degrees: float) -> Numbers:
    change = np.full(exam.forcing.mass.shape, degrees)
    changed = exam.respond(weather.with_temperature_change(exam.forcing, exam.inputs, change))
    rise: Numbers = (changed.discharge - exam.usual.discharge).sum(axis=-1) / exam.precipitation
    return rise


@experiment(
    Question(
        "volume of snow",
        "how far the runoff that a winter storm adds in a year differs between snow and rain, as a share of the storm; "
        "in basins with snow",
        "1",
        0.1,
        "Whether water falls as snow or as rain delays it; little of it evaporates in between.",
    ),
    Question(
        "snow without delay",
        "how much more of a winter storm flows off in five days as snow than as rain, as a share of the storm; in "
        "basins with snow",
        "1",
        0.001,
        "Snow stays where rain flows off.",
    ),
)
def snow_or_rain(exam: Exam) -> tuple[Numbers, ...]:
    """Let a winter storm fall as snow or as rain; return the figures of a year and of the first days."""
    snow, rain = (_added_flow(exam, mean) for mean in (SNOW_MEAN, RAIN_MEAN))
    volume = np.abs((snow - rain).sum(axis=-1)) / STORM_MM
    sooner = (snow - rain)[..., :EVENT_DAYS].sum(axis=-1) / STORM_MM
    snowy = exam.snow_share > ENOUGH_SNOW
    return np.where(snowy, volume, NOT_ASKED), np.where(snowy, sooner, NOT_ASKED)


def _added_flow(exam: Exam, mean: float) -> Numbers:
    """Return the flow added by the storm from its day on, at a mean temperature around it."""
    forcing = weather.first_days(exam.forcing, STORM_DAY + YEAR)
    days = slice(STORM_DAY - 1, STORM_DAY + EVENT_DAYS)
    change = np.zeros(forcing.mass.shape)
    change[:, days] = mean - exam.temperature[:, days]
    without = weather.with_temperature_change(forcing, exam.inputs, change)
    with_storm = weather.with_added_rain(without, np.full(len(change), STORM_DAY), STORM_MM)
    added: Numbers = (exam.respond(with_storm).discharge - exam.respond(without).discharge)[..., STORM_DAY:]
    return added


@experiment(
    Question(
        "energy",
        "what the air takes up on all days, as a share of potential evapotranspiration: the evapotranspiration of "
        "networks with a separate leakage, the whole loss of others",
        "1",
        1.0,
        "The air can take up no more water than its energy evaporates.",
        ("evapotranspiration",),
    ),
)
def energy(exam: Exam) -> tuple[Numbers, ...]:
    """Return what the air takes up as a share of Oudin's potential evapotranspiration."""
    potential = weather.potential(exam.forcing, exam.inputs, exam.latitudes).sum(axis=-1)
    return (exam.usually("evapotranspiration").sum(axis=-1) / potential,)
