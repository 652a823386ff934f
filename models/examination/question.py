"""Questions of an examination, and the judgement of their answers."""

from collections.abc import Callable
from dataclasses import dataclass

from models.examination.exam import Exam, Numbers


@dataclass(frozen=True, slots=True)
class Question:
    """A question to members on the weather of real basins.

    Attributes:
        asks: the measured quantity.
        unit: of figure and limit; `1` for a share.
        limit: the largest figure that passes; float32 rounding stays below it.
        reason: why a larger one violates physics.
    """

    name: str
    asks: str
    unit: str
    limit: float
    reason: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """Paired runs that answer some questions.

    Attributes:
        measure: returns a figure for each question, in their order: of each member and of their mean in each basin,
            (members + 1, basins); NOT_ASKED where a question does not apply.
    """

    questions: tuple[Question, ...]
    measure: Callable[[Exam], tuple[Numbers, ...]]
