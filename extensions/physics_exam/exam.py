"""The members of an ensemble, and their mean, under changed weather. The base of all experiments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from jobspec.training import InputsConfig
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Forcing, mean_temperature

Numbers = npt.NDArray[np.float64]
YEAR = 365
NOT_ASKED = -np.inf
"""The figure of a basin to which a question does not apply. NaN is that of members whose water is not a number."""
COLD = 1.0  # degC: precipitation on a colder day counts as snow


@dataclass(frozen=True, slots=True)
class Response:
    """Discharge and loss in mm/day, stored water in mm. (members + 1, basins, days); the mean of the members last."""

    discharge: Numbers
    loss: Numbers
    storage: Numbers

    def first_days(self, days: int) -> "Response":
        return Response(self.discharge[..., :days], self.loss[..., :days], self.storage[..., :days])


class Exam:
    """Runs of mass-conserving members from one day, from states that earlier weather has filled.

    The forcing begins with the years of warm-up; `days`, two years at least, follow. Latitudes are in degrees.
    """

    def __init__(self, ensemble: Ensemble, forcing: Forcing, latitudes: Sequence[float], days: Period) -> None:
        self.ensemble, self.latitudes = ensemble, latitudes
        before = forcing.over(Period(forcing.first, days.first - np.timedelta64(1, "D")))
        self.forcing = forcing.over(days)
        self.states = [state for _, state in ensemble.each(before, None, ())]

    @property
    def inputs(self) -> InputsConfig:
        return self.ensemble.config.inputs

    def run(self, forcing: Forcing, states: Sequence[ArrayMap] | None = None) -> tuple[Response, list[ArrayMap]]:
        """Return the response to some weather and the last states; by default from the first day's states."""
        members, last = list[tuple[Numbers, ...]](), list[ArrayMap]()
        for outputs, state in self.ensemble.each(forcing, states or self.states, ("discharge", "loss", "storage")):
            stored = outputs["storage"].sum(axis=-1, dtype=np.float64)
            members.append((outputs["discharge"].astype(np.float64), outputs["loss"].astype(np.float64), stored))
            last.append(state)
        parts = (np.stack(values) for values in zip(*members, strict=True))
        return Response(*(np.concatenate([part, part.mean(axis=0, keepdims=True)]) for part in parts)), last

    def respond(self, forcing: Forcing) -> Response:
        """Return the response to some weather from the first day's states."""
        return self.run(forcing)[0]

    @cached_property
    def usual(self) -> Response:
        return self.respond(self.forcing)

    @cached_property
    def temperature(self) -> Numbers:
        """Mean daily temperature, (basins, days) in degC."""
        return mean_temperature(self.forcing, self.inputs)

    @cached_property
    def snow_share(self) -> Numbers:
        """Share of precipitation on days below 1 degC, (basins,)."""
        cold = np.where(self.temperature < COLD, self.forcing.mass, 0).sum(axis=1, dtype=np.float64)
        share: Numbers = cold / np.maximum(self.precipitation, 1e-9)
        return share

    @property
    def precipitation(self) -> Numbers:
        """Precipitation of the days examined, (basins,) in mm."""
        total: Numbers = self.forcing.mass.sum(axis=1, dtype=np.float64)
        return total


@dataclass(frozen=True, slots=True)
class Question:
    """A question to members on the weather of real basins.

    Attributes:
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

    `measure` returns a figure for each question, in their order: of each member and of their mean in each basin,
    (members + 1, basins); NOT_ASKED where a question does not apply.
    """

    questions: tuple[Question, ...]
    measure: Callable[[Exam], tuple[Numbers, ...]]


def experiment(*questions: Question) -> Callable[[Callable[[Exam], tuple[Numbers, ...]]], Experiment]:
    """Decorate the measure of an experiment with its questions."""
    return lambda measure: Experiment(questions, measure)
