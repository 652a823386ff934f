"""Four years of warmer and of cooler air at the same relative humidity."""

import numpy as np

from models.examination import weather
from models.examination.exam import Exam, Numbers
from models.examination.question import Experiment, Question

CHANGE = 3.0  # degC

QUESTIONS = (
    Question(
        "warming",
        "how far the runoff of four years rises in air 3 degC warmer of the same relative humidity, as a share of "
        "precipitation",
        "1",
        0.001,
        "Warmer air evaporates more of the same precipitation.",
    ),
    Question(
        "cooling",
        "how far the runoff of four years falls in air 3 degC cooler of the same relative humidity, as a share of "
        "precipitation",
        "1",
        0.001,
        "Cooler air evaporates less of the same precipitation.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the figures of warming and cooling."""
    return _rise(exam, CHANGE), -_rise(exam, -CHANGE)


def _rise(exam: Exam, degrees: float) -> Numbers:
    change = np.full(exam.forcing.mass.shape, degrees)
    changed = exam.respond(weather.with_temperature_change(exam.forcing, exam.inputs, change))
    rise: Numbers = (changed.discharge - exam.usual.discharge).sum(axis=-1) / exam.precipitation
    return rise


EXPERIMENT = Experiment(QUESTIONS, measure)
