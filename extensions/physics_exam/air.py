"""Experiments with the temperature of the air, and with its energy."""

from collections.abc import Sequence

import numpy as np

from extensions.physics_exam import weather
from extensions.physics_exam.exam import NOT_ASKED, YEAR, Exam, Numbers, Question, experiment
from models.forcing import Forcing

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
    changes = [np.full(exam.forcing.mass.shape, degrees) for degrees in (CHANGE, -CHANGE)]
    responses = exam.respond(*(weather.with_temperature_change(exam.forcing, exam.inputs, one) for one in changes))
    warmer, cooler = (
        (changed.discharge - exam.usual.discharge).sum(axis=-1) / exam.precipitation for changed in responses
    )
    return warmer, -cooler


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
    snow, rain = _added_flows(exam, (SNOW_MEAN, RAIN_MEAN))
    volume = np.abs((snow - rain).sum(axis=-1)) / STORM_MM
    sooner = (snow - rain)[..., :EVENT_DAYS].sum(axis=-1) / STORM_MM
    snowy = exam.snow_share > ENOUGH_SNOW
    return np.where(snowy, volume, NOT_ASKED), np.where(snowy, sooner, NOT_ASKED)


def _added_flows(exam: Exam, means: Sequence[float]) -> list[Numbers]:
    """Return the flow added by the storm from its day on, at each mean temperature around it."""
    forcing = weather.first_days(exam.forcing, STORM_DAY + YEAR)
    days = slice(STORM_DAY - 1, STORM_DAY + EVENT_DAYS)
    runs = list[Forcing]()
    for mean in means:
        change = np.zeros(forcing.mass.shape)
        change[:, days] = mean - exam.temperature[:, days]
        without = weather.with_temperature_change(forcing, exam.inputs, change)
        runs += [without, weather.with_added_rain(without, np.full(len(change), STORM_DAY), STORM_MM)]
    flows = [response.discharge[..., STORM_DAY:] for response in exam.respond(*runs)]
    return [with_storm - without for without, with_storm in zip(flows[::2], flows[1::2], strict=True)]


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
