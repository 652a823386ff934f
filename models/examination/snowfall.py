"""A winter storm that falls as snow or as rain, in basins that have snow."""

import numpy as np

from models.examination import weather
from models.examination.exam import NOT_ASKED, YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

SNOW_MEAN, RAIN_MEAN = -5.0, 5.0  # degC, of the days around the storm
STORM_MM, EVENT_DAYS = 30.0, 5
DAY = 107  # in January where the examined days begin with a water year
ENOUGH_SNOW = 0.05  # of precipitation

QUESTIONS = (
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


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the figures of a year and of the first days."""
    snow, rain = (_added_flow(exam, mean) for mean in (SNOW_MEAN, RAIN_MEAN))
    volume = np.abs((snow - rain).sum(axis=-1)) / STORM_MM
    sooner = (snow - rain)[..., :EVENT_DAYS].sum(axis=-1) / STORM_MM
    snowy = exam.snow_share > ENOUGH_SNOW
    return np.where(snowy, volume, NOT_ASKED), np.where(snowy, sooner, NOT_ASKED)


def _added_flow(exam: Exam, mean: float) -> Numbers:
    """Return the flow added by the storm from its day on, at a mean temperature around it."""
    forcing = weather.first_days(exam.forcing, DAY + YEAR)
    days = slice(DAY - 1, DAY + EVENT_DAYS)
    change = np.zeros(forcing.mass.shape)
    change[:, days] = mean - exam.temperature[:, days]
    without = weather.with_temperature_change(forcing, exam.inputs, change)
    with_storm = weather.with_added_rain(without, np.full(len(change), DAY), STORM_MM)
    added: Numbers = (exam.respond(with_storm).discharge - exam.respond(without).discharge)[..., DAY:]
    return added


EXPERIMENT = Experiment(QUESTIONS, measure)
