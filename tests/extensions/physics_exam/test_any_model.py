"""The examination of models that others wrote: a sound one passes, and every broken twin of it is caught."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from extensions.physics_exam import any_model, basin, rain
from extensions.physics_exam.any_model import Outputs, Weather, examine_model, examine_runs, paired_runs
from extensions.physics_exam.exam import Numbers
from extensions.physics_exam.questions import EXPERIMENTS, QUESTIONS
from hydrology.base.calendar import Period, day_of_year
from hydrology.base.errors import InvalidInput
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration
from tests.extensions.physics_exam.test_exam import DAYS, LATITUDES, weather

pytestmark = pytest.mark.extended


def of_others() -> Weather:
    """Return weather of a warm and of a cold basin, as one would give it."""
    forcing = weather()
    named = zip(("srad", "tmax", "tmin", "vp"), np.moveaxis(forcing.auxiliary, -1, 0).astype(float), strict=True)
    attributes = {"area_gages2": np.array([500.0, 50.0])}
    return Weather(forcing.first, LATITUDES, forcing.mass.astype(float), dict(named), attributes)


@dataclass(frozen=True)
class Bucket:
    """Snow, soil and groundwater, by a textbook. Each setting but the usual one breaks a law.

    Attributes:
        drains: the share of groundwater that flows off on a day with some rain, mm, and day of the year.
        runs_off: the share of rain that never enters the soil, of a share of its capacity that is filled.
        thirst: the share of potential evapotranspiration, of the same.
        caught: the share of snowfall that is stored; the rest is lost.
        lost_deep: the share of recharge that never comes back.
    """

    drains: Callable[[Numbers, int], Numbers] = lambda rain, _day: np.full(len(rain), 0.05)
    runs_off: Callable[[Numbers], Numbers] = lambda filled: 0.3 * filled
    thirst: Callable[[Numbers], Numbers] = lambda filled: filled
    melt: float = 3.0
    caught: float = 1.0
    slides: float = 0.0
    lost_deep: float = 0.0
    warmth: float = 1.0
    per_area: float = 0.0

    def __call__(self, weather: Weather) -> Outputs:
        mean = (weather.variables["tmax"] + weather.variables["tmin"]) / 2
        days = Period(weather.first, weather.first + np.timedelta64(mean.shape[1] - 1, "D")).days
        demand = potential_evapotranspiration(self.warmth * mean, extraterrestrial_radiation(days, weather.latitudes).T)
        snow, soil, ground, deep = np.zeros((4, len(mean)))
        found: dict[str, list[Numbers]] = {
            name: [] for name in ("discharge", "loss", "storage", "snow", "evapotranspiration")
        }
        for at, of_year in enumerate(day_of_year(days).tolist()):
            fallen = weather.precipitation[:, at]
            frozen = np.where(mean[:, at] < 0, fallen, 0)
            rain = fallen - frozen
            sliding, uncaught = self.slides * frozen, (1 - self.caught) * frozen
            snow += frozen - sliding - uncaught
            melting = np.minimum(snow, self.melt * np.maximum(mean[:, at], 0))
            snow -= melting
            water, filled = rain + melting, soil / CAPACITY
            quick = self.runs_off(filled) * water
            soil += water - quick
            taken = np.minimum(self.thirst(filled) * demand[:, at], soil)
            soil -= taken
            recharge = np.maximum(soil - CAPACITY, 0) + 0.02 * soil
            soil -= recharge
            deep += self.lost_deep * recharge
            ground += (1 - self.lost_deep) * recharge
            slow = self.drains(fallen, of_year) * ground
            ground -= slow
            flow = (quick + slow + sliding) * (1 + self.per_area * weather.attributes["area_gages2"])
            for name, values in zip(
                found, (flow, taken + uncaught, snow + soil + ground + deep, snow, taken), strict=True
            ):
                found[name].append(values.copy())
        return {name: np.stack(values, axis=1) for name, values in found.items()}


CAPACITY = 150.0
SOUND = Bucket()
BROKEN = {
    "less flow after rain": replace(SOUND, drains=lambda rain, _day: 0.05 / (1 + rain / 10)),
    "more flow than rain": replace(SOUND, drains=lambda rain, _day: np.minimum(0.05 * (1 + rain), 1)),
    "less loss after rain": replace(SOUND, thirst=lambda filled: np.maximum(0.6 - filled, 0)),
    "dry ground": replace(SOUND, runs_off=lambda filled: 0.9 * np.maximum(1 - filled, 0) ** 3),
    "more flow from less rain": replace(SOUND, drains=lambda rain, _day: 0.05 / (1 + rain / 10)),
    "more loss from less rain": replace(SOUND, thirst=lambda filled: np.maximum(0.6 - filled, 0)),
    "rise without rain": replace(
        SOUND, drains=lambda rain, day: np.full(len(rain), 0.03 + 0.029 * np.sin(2 * np.pi * day / 60))
    ),
    "warming": replace(SOUND, warmth=-1.0),
    "cooling": replace(SOUND, warmth=-1.0),
    "volume of snow": replace(SOUND, caught=0.6),
    "snow without delay": replace(SOUND, slides=0.9),
    "lasting snow": replace(SOUND, melt=0.1),
    "drift": replace(SOUND, lost_deep=0.3),
    "storage": replace(SOUND, lost_deep=0.9),
    "energy": replace(SOUND, thirst=lambda filled: 10 + filled),
    "area": replace(SOUND, per_area=1e-3),
}


def test_there_is_a_broken_twin_for_every_question() -> None:
    assert BROKEN.keys() == {question.name for question in QUESTIONS}


def test_a_sound_model_passes_every_question() -> None:
    results = examine_model(SOUND, of_others(), DAYS)
    assert {one.name for one in results} == {question.name for question in QUESTIONS}
    assert [one.in_words for one in results if one.failing] == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_twin_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [one for one in EXPERIMENTS if name in {question.name for question in one.questions}]
    monkeypatch.setattr("extensions.physics_exam.questions.EXPERIMENTS", asked)
    results = {one.name: one for one in examine_model(BROKEN[name], of_others(), DAYS)}
    assert not results[name].passes, results[name].in_words


def test_an_lstm_is_asked_what_its_flow_answers_alone() -> None:
    torch.manual_seed(0)
    network, head = torch.nn.LSTM(4, 8, batch_first=True), torch.nn.Linear(8, 1)

    def lstm(weather: Weather) -> Outputs:
        names = ("srad", "tmax", "tmin")
        inputs = np.stack([weather.precipitation, *(weather.variables[name] / 30 for name in names)], axis=-1)
        with torch.no_grad():
            flow = torch.relu(head(network(torch.tensor(inputs, dtype=torch.float32))[0]))[..., 0]
        return {"discharge": flow.numpy()}

    names = {one.name for one in examine_model(lstm, of_others(), DAYS)}
    assert names == {question.name for question in QUESTIONS if question.needs == ("discharge",)}


def test_series_that_were_simulated_elsewhere_have_the_results_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensions.physics_exam.questions.EXPERIMENTS", (rain.less_rain, basin.dry_months))
    given = of_others()
    runs = [(changed, SOUND(changed)) for changed in paired_runs(given, DAYS)]
    assert examine_runs(runs, given, DAYS) == examine_model(SOUND, given, DAYS)
    with pytest.raises(InvalidInput, match="a run is missing"):
        examine_runs(runs[:-1], given, DAYS)


def test_what_cannot_be_examined_is_refused_with_its_name() -> None:
    given = of_others()
    without = replace(given, variables={"tmax": given.variables["tmax"]})
    with pytest.raises(InvalidInput, match="no tmin"):
        examine_model(SOUND, without, DAYS)
    with pytest.raises(InvalidInput, match="730 days at least"):
        examine_model(SOUND, given, Period.parse("2001-10-01..2002-09-30"))
    with pytest.raises(InvalidInput, match="730 days at least"):
        examine_model(SOUND, given, Period(given.first, DAYS.last))
    with pytest.raises(InvalidInput, match="no discharge, but flow"):
        examine_model(lambda weather: {"flow": weather.precipitation}, given, DAYS)
    with pytest.raises(InvalidInput, match=r"discharge has the shape \(2,\)"):
        examine_model(lambda weather: {"discharge": weather.precipitation[:, 0]}, given, DAYS)
    short = replace(given, variables={**given.variables, "vp": given.variables["vp"][:, 1:]})
    with pytest.raises(InvalidInput, match="vp has the shape"):
        any_model.examine_model(SOUND, short, DAYS)
