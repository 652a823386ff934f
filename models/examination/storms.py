"""Additional storms: the largest of a year doubled, and 30 mm on a day of each season."""

import numpy as np

from hydrology.water.water_response import largest_excess, returned_share
from models.examination import weather
from models.examination.exam import YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

DAYS = 2 * YEAR  # a storm falls in the first year, and at least most of a year follows
SEASONS = (15, 105, 195, 285)
ADDED_MM = 30.0

QUESTIONS = (
    Question(
        "less flow after rain",
        "how far flow falls below that without an additional storm, on any day after it",
        "mm/day",
        0.01,
        "Water that is added leaves no store with less water, so it lowers the flow of no day.",
    ),
    Question(
        "more flow than rain",
        "the largest share of an additional storm that additional flow has returned by any day",
        "1",
        1.001,
        "Flow beyond the storm's own water would leave the stores emptier than without the storm.",
    ),
    Question(
        "less loss after rain",
        "how far the total loss after an additional storm falls below that without it, as a share of the storm",
        "1",
        0.001,
        "Under the same air a wetter basin evaporates as much or more.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the worst figures of all storms."""
    forcing = weather.first_days(exam.forcing, DAYS)
    without = exam.usual.first_days(DAYS)
    basins = len(forcing.mass)
    largest = forcing.mass[:, :YEAR].argmax(axis=1)
    storms = [(largest, forcing.mass[np.arange(basins), largest])]
    storms += [(np.full(basins, day), np.full(basins, ADDED_MM, np.float32)) for day in SEASONS]
    figures = []
    for day, depth in storms:
        response = exam.respond(weather.with_added_rain(forcing, day, depth))
        added = depth.astype(np.float64)
        figures.append(
            (
                largest_excess(without.discharge, response.discharge),
                returned_share(response.discharge, without.discharge, added),
                (without.loss - response.loss).sum(axis=-1) / added,
            )
        )
    return tuple(np.max(figures, axis=0))


EXPERIMENT = Experiment(QUESTIONS, measure)
