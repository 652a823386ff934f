"""The same basin with a small and with a large area as its attribute."""

import numpy as np

from models.examination import weather
from models.examination.exam import YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

AREA = "area_gages2"
SMALL, LARGE = 100.0, 1000.0  # km2

QUESTIONS = (
    Question(
        "area",
        "how far mean runoff depth differs between the basin with an area of 100 km2 and of 1000 km2, relative to "
        "itself; after a year of adaptation",
        "1",
        0.01,
        "Runoff depth is per unit of area.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the relative difference. 0 where the networks do not take the area."""
    usual = exam.usual.discharge[..., YEAR:].sum(axis=-1)
    if AREA not in exam.inputs.static:
        return (np.zeros(usual.shape),)
    small, large = (_runoff(exam, area) for area in (SMALL, LARGE))
    return (np.abs(large - small) / usual,)


def _runoff(exam: Exam, area: float) -> Numbers:
    values = np.full(len(exam.forcing.static), area)
    forcing = weather.with_attribute(exam.forcing, exam.inputs, AREA, values)
    total: Numbers = exam.respond(forcing).discharge[..., YEAR:].sum(axis=-1)
    return total


EXPERIMENT = Experiment(QUESTIONS, measure)
