"""Two months without rain in each season, in basins without snow."""

import numpy as np

from hydrology.water.water_response import largest_rise
from models.examination import weather
from models.examination.exam import NOT_ASKED, YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

DRY_DAYS, DRAINING_DAYS = 60, 5
STARTS = (0, YEAR // 4, YEAR // 2, 3 * YEAR // 4)
LITTLE_SNOW = 0.01  # of precipitation

QUESTIONS = (
    Question(
        "rise without rain",
        "the largest rise of flow in two months without rain, after five days, in basins without snow",
        "mm/day",
        0.05,
        "Without rain or melt stores only drain; a small rise is left to trees that stop drawing water.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the worst figure of the seasons."""
    rises = []
    for start in STARTS:
        forcing = weather.first_days(exam.forcing, start + DRY_DAYS)
        rain = forcing.mass.copy()
        rain[:, start:] = 0
        flow = exam.respond(weather.with_rain(forcing, rain)).discharge[..., start + DRAINING_DAYS :]
        rises.append(largest_rise(flow))
    return (np.where(exam.snow_share < LITTLE_SNOW, np.max(rises, axis=0), NOT_ASKED),)


EXPERIMENT = Experiment(QUESTIONS, measure)
