"""Loss compared with the evaporation that the energy of the air allows."""

from models.examination import weather
from models.examination.exam import Exam, Numbers
from models.examination.question import Experiment, Question

QUESTIONS = (
    Question(
        "energy",
        "the loss of four years, as a share of potential evapotranspiration",
        "1",
        1.0,
        "The air can take up no more water than its energy evaporates.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the share of Oudin's potential evapotranspiration."""
    potential = weather.potential(exam.forcing, exam.inputs, exam.latitudes).sum(axis=-1)
    return (exam.usual.loss.sum(axis=-1) / potential,)


EXPERIMENT = Experiment(QUESTIONS, measure)
