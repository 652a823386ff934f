"""Members of a model, and their mean, under changed weather. The base of all experiments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from jobspec.training import InputsConfig
from models.forcing import Forcing, mean_temperature

Numbers = npt.NDArray[np.float64]
YEAR = 365
NOT_ASKED = -np.inf
"""The figure of a basin to which a question does not apply. NaN is that of members whose water is not a number."""
RESPONSE = ("discharge", "loss", "storage")
OUTPUTS = (*RESPONSE, "snow", "evapotranspiration")
"""What may be examined: mm/day, stored water and snow in mm; evapotranspiration is what the air takes up."""
COLD = 1.0  # degC: precipitation on a colder day counts as snow


@dataclass(frozen=True, slots=True)
class Response:
    """Discharge and loss in mm/day, stored water in mm. (members + 1, basins, days); the mean of the members last."""

    discharge: Numbers
    loss: Numbers
    storage: Numbers

    def first_days(self, days: int) -> "Response":
        return Response(self.discharge[..., :days], self.loss[..., :days], self.storage[..., :days])


class Examined(Protocol):
    """What answers an exam: members that respond to weather, from a state that earlier weather has filled.

    Attributes:
        inputs: the names of what it takes.
        outputs: those of `OUTPUTS` that it has.
    """

    @property
    def inputs(self) -> InputsConfig: ...

    @property
    def outputs(self) -> frozenset[str]: ...

    def fill(self, before: Forcing) -> Any:
        """Return the state after some weather, from empty stores."""

    def run(self, forcing: Forcing, state: Any, names: Sequence[str]) -> tuple[dict[str, Numbers], Any]:
        """Return some outputs, (members, basins, days) each, and the last state."""

    def run_each(self, forcings: Sequence[Forcing], state: Any, names: Sequence[str]) -> list[dict[str, Numbers]]:
        """Return some outputs of each of several runs over the same days, all from one state."""


class Exam:
    """Runs of what is examined from one day, from states that earlier weather has filled.

    The forcing begins with the years of warm-up; `days`, two years at least, follow. Latitudes are in degrees.
    """

    def __init__(self, examined: Examined, forcing: Forcing, latitudes: Sequence[float], days: Period) -> None:
        self.examined, self.latitudes = examined, latitudes
        self.forcing = forcing.over(days)
        self.state = examined.fill(forcing.over(Period(forcing.first, days.first - np.timedelta64(1, "D"))))

    @property
    def inputs(self) -> InputsConfig:
        return self.examined.inputs

    def run(self, forcing: Forcing, state: Any = None) -> tuple[Response, Any]:
        """Return the response to some weather and the last state; by default from the first day's state."""
        found, last = self.examined.run(forcing, self.state if state is None else state, self._known(RESPONSE))
        return _response(found), last

    def respond(self, *forcings: Forcing) -> list[Response]:
        """Return the responses to weather of the same days, each from the first day's state."""
        return [_response(of) for of in self.examined.run_each(forcings, self.state, self._known(RESPONSE))]

    def usually(self, name: str) -> Numbers:
        """Return an output under the weather as it was, (members + 1, basins, days)."""
        return _with_mean(self._usual_outputs[name])

    @cached_property
    def usual(self) -> Response:
        return _response(self._usual_outputs)

    @cached_property
    def _usual_outputs(self) -> dict[str, Numbers]:
        return self.examined.run(self.forcing, self.state, self._known(OUTPUTS))[0]

    def _known(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.examined.outputs]

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


def _response(found: Mapping[str, Numbers]) -> Response:
    unknown = np.full_like(found["discharge"], np.nan)
    return Response(*(_with_mean(found.get(name, unknown)) for name in RESPONSE))


def _with_mean(of_members: Numbers) -> Numbers:
    return np.concatenate([of_members, of_members.mean(axis=0, keepdims=True)])


@dataclass(frozen=True, slots=True)
class Question:
    """A question to members on the weather of real basins.

    Attributes:
        unit: of figure and limit; `1` for a share.
        limit: the largest figure that passes; float32 rounding stays below it.
        reason: why a larger one violates physics.
        needs: the outputs without which it is not asked.
    """

    name: str
    asks: str
    unit: str
    limit: float
    reason: str
    needs: tuple[str, ...] = ("discharge",)


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
