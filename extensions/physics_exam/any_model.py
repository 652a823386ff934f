"""Examines models of others: any function from weather to flow, or series that were simulated elsewhere.

`examine_model` calls the model with the weather of every run. Where that is not possible, `paired_runs` gives the
weather of all runs, and `examine_runs` judges what the model simulated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extensions.physics_exam.exam import OUTPUTS, Exam, Numbers
from extensions.physics_exam.questions import answers
from hydrology.base.calendar import Day, Period
from hydrology.base.digests import sha256
from hydrology.base.errors import InvalidInput
from hydrology.water.probes import ProbeResult
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.forcing import Forcing

Outputs = Mapping[str, npt.ArrayLike]


@dataclass(frozen=True, slots=True, eq=False)
class Weather:
    """Weather of some basins on consecutive days from `first` on.

    Attributes:
        latitudes: (basins,) in degrees.
        precipitation: (basins, days) in mm/day.
        variables: by name, (basins, days): `tmax` and `tmin` in degC at least; `vp` is changed with the temperature.
        attributes: by name, (basins,); `area_gages2` in km2 is varied where it is given.
    """

    first: Day
    latitudes: Sequence[float]
    precipitation: Numbers
    variables: Mapping[str, Numbers]
    attributes: Mapping[str, Numbers]

    @property
    def key(self) -> str:
        """The fingerprint of all its numbers."""
        parts = (self.precipitation, *self.variables.values(), *self.attributes.values())
        return sha256(str(self.first).encode() + b"".join(np.asarray(part, np.float32).tobytes() for part in parts))


Model = Callable[[Weather], Outputs]
"""Returns `discharge`, (basins, days) in mm/day, and what else of `OUTPUTS` it has, from empty or usual stores."""


def examine_model(model: Model, weather: Weather, days: Period) -> tuple[ProbeResult, ...]:
    """Examine a model on some basins: the results of all questions about what it returns.

    The weather begins with the years of warm-up, and holds the `days` to examine, two years at least.
    """
    inputs, forcing = _inputs(weather), _forcing(weather)
    whole = Period(forcing.first, forcing.period.last)
    if len(days) < MIN_DAYS or days.first <= whole.first or whole.overlap(days) != days:
        raise InvalidInput(
            f"Examine {MIN_DAYS} days at least, after a year or more of warm-up within {whole}; not {days}."
        )
    known = frozenset(_outputs(model, weather)) & {*OUTPUTS}
    return answers(Exam(_AnyModel(model, inputs, weather.latitudes, known), forcing, weather.latitudes, days))


def paired_runs(weather: Weather, days: Period) -> list[Weather]:
    """Return the weather of every run of an examination, each once."""
    runs = dict[str, Weather]()

    def note(changed: Weather) -> Outputs:
        runs.setdefault(changed.key, changed)
        return dict.fromkeys(OUTPUTS, np.zeros(changed.precipitation.shape))

    examine_model(note, weather, days)
    return [*runs.values()]


def examine_runs(runs: Sequence[tuple[Weather, Outputs]], weather: Weather, days: Period) -> tuple[ProbeResult, ...]:
    """Examine what a model simulated in each of `paired_runs`."""
    simulated = {of.key: outputs for of, outputs in runs}

    def look_up(changed: Weather) -> Outputs:
        if changed.key not in simulated:
            raise InvalidInput("The simulation of a run is missing: simulate all of paired_runs() for this weather.")
        return simulated[changed.key]

    return examine_model(look_up, weather, days)


MIN_DAYS = 730


def _inputs(weather: Weather) -> InputsConfig:
    if missing := sorted({*TEMPERATURES} - {*weather.variables}):
        raise InvalidInput(f"The weather has no {' and no '.join(missing)}: daily temperatures in degC are needed.")
    return InputsConfig(product="any", auxiliary=tuple(weather.variables), static=tuple(weather.attributes))


def _forcing(weather: Weather) -> Forcing:
    basins = [str(at) for at in range(len(weather.precipitation))]
    shapes = {name: np.shape(values) for name, values in weather.variables.items()}
    if wrong := [name for name, shape in shapes.items() if shape != weather.precipitation.shape]:
        raise InvalidInput(f"{wrong[0]} has the shape {shapes[wrong[0]]}, precipitation {weather.precipitation.shape}.")
    auxiliary = np.stack([*weather.variables.values()], axis=-1)
    static = np.stack([*weather.attributes.values()], axis=-1) if weather.attributes else np.empty((len(basins), 0))
    rain = weather.precipitation.astype(np.float32)
    return Forcing(weather.first, rain, auxiliary.astype(np.float32), static.astype(np.float32), tuple(basins))


def _outputs(model: Model, weather: Weather) -> dict[str, Numbers]:
    outputs = {name: np.asarray(values, dtype=np.float64) for name, values in model(weather).items()}
    if "discharge" not in outputs:
        raise InvalidInput(f"The model returned no discharge, but {', '.join(sorted(outputs)) or 'nothing'}.")
    for name, values in outputs.items():
        if values.shape != weather.precipitation.shape:
            raise InvalidInput(
                f"The model's {name} has the shape {values.shape}; (basins, days) are {weather.precipitation.shape}."
            )
    return outputs


@dataclass(frozen=True, slots=True)
class _AnyModel:
    """A model as an exam asks it. Its state is all weather before, with which it runs again."""

    model: Model
    inputs: InputsConfig
    latitudes: Sequence[float]
    outputs: frozenset[str]

    def fill(self, before: Forcing) -> Forcing:
        return before

    def run(self, forcing: Forcing, state: Forcing, names: Sequence[str]) -> tuple[dict[str, Numbers], Forcing]:
        days = forcing.mass.shape[1]
        whole = Forcing(
            forcing.first - np.timedelta64(state.mass.shape[1], "D"),
            np.concatenate([state.mass, forcing.mass], axis=1),
            np.concatenate([state.auxiliary, forcing.auxiliary], axis=1),
            forcing.static,
            forcing.ids,
        )
        outputs = _outputs(self.model, self._weather(whole))
        return {name: outputs[name][None, :, -days:] for name in names}, whole

    def run_each(self, forcings: Sequence[Forcing], state: Forcing, names: Sequence[str]) -> list[dict[str, Numbers]]:
        return [self.run(forcing, state, names)[0] for forcing in forcings]

    def _weather(self, forcing: Forcing) -> Weather:
        return Weather(
            forcing.first,
            self.latitudes,
            forcing.mass.astype(np.float64),
            {name: forcing.auxiliary[..., at].astype(np.float64) for at, name in enumerate(self.inputs.auxiliary)},
            {name: forcing.static[:, at].astype(np.float64) for at, name in enumerate(self.inputs.static)},
        )
