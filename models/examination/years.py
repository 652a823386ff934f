"""The weather of one year, ten times over."""

import numpy as np

from models.examination import weather
from models.examination.exam import YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

REPEATS = 10

QUESTIONS = (
    Question(
        "drift",
        "the change of stored water over the last of ten equal years, as a share of a year's precipitation",
        "1",
        0.001,
        "A year that repeats itself leaves the stores as it found them.",
    ),
    Question(
        "storage",
        "the most water stored at the end of one of ten equal years, in years of precipitation",
        "1",
        2.0,
        "What takes part in the flow of a basin is at most some years of its precipitation.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the figures of the last year, and of all years."""
    year, states, stored = weather.first_days(exam.forcing, YEAR), exam.states, []
    for _ in range(REPEATS):
        response, states = exam.run(year, states)
        stored.append(response.storage[..., -1])
    rain = year.mass.sum(axis=1, dtype=np.float64)
    return np.abs(stored[-1] - stored[-2]) / rain, np.max(stored, axis=0) / rain


EXPERIMENT = Experiment(QUESTIONS, measure)
