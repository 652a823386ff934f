"""Four years with a fifth less rain every day."""

import numpy as np

from hydrology.water.water_response import largest_excess
from models.examination import weather
from models.examination.exam import Exam, Numbers
from models.examination.question import Experiment, Question

DRIER = np.float32(0.8)

QUESTIONS = (
    Question(
        "more flow from less rain",
        "how far flow rises on any day where a fifth less rain falls every day",
        "mm/day",
        0.01,
        "Less rain leaves less water in every store, which raises the flow of no day.",
    ),
    Question(
        "more loss from less rain",
        "how far the loss of four years rises where a fifth less rain falls every day, as a share of precipitation",
        "1",
        0.001,
        "Under the same air a drier basin evaporates as much or less.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the figures of flow and loss."""
    drier = exam.respond(weather.with_rain(exam.forcing, exam.forcing.mass * DRIER))
    loss = (drier.loss - exam.usual.loss).sum(axis=-1) / exam.precipitation
    return largest_excess(drier.discharge, exam.usual.discharge), loss


EXPERIMENT = Experiment(QUESTIONS, measure)
