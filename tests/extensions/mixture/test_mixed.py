"""Forecasts of basins with two weather models, from the issue to every reader."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np
import pytest

from extensions.mixture.rule import Losses, distances, expected_losses, mixed
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import load_discharge
from operations.daily.daily_forecasts import Newest
from operations.forecasting.forecast import forecast
from records.database.engine import Database
from records.runs import run_arrays, runs
from records.runs.run_arrays import RunSeries
from records.runs.run_summary import WeatherShare
from records.runs.run_types import Run
from records.runs.runs import RunRequest
from runtime.clock import Clock
from testing.country import BASINS
from testing.work import work_of
from tests.app.conftest import serving
from tests.operations.conftest import _one_thread, country, trained_file, trained_store
from tests.operations.daily.test_missing_weather import BASIN, HORIZON, Service, calibrated

__all__ = ["_one_thread", "country", "trained_file", "trained_store"]
WET, GOOD = "late/wet", "late/good"


class TwoModels(Service):
    """A service with the forecasts of a weather model that is right and of one that is far too wet."""

    def next_day(self, *models: str, weather: bool = True) -> Newest:
        """Go on by a day with the forecasts of some weather models."""
        self.now += timedelta(days=1)
        came = Period(self.yesterday, self.yesterday)
        self.archive.bring(self.database, Clock(self.now), came, weather=weather, flow=True)
        self.stored = {}
        for model in models:
            wetter = 6.0 if model == WET else 1.0
            name, first = model.partition("/")[2], self.yesterday + 1
            self.stored[model] = self.archive.forecast(
                self.database, self.now, first, HORIZON, model=name, wetter=wetter
            )
        return self.issue()

    def series(self) -> Mapping[str, RunSeries]:
        with self.database.reading() as session:
            return runs.series_of(session, self.newest().run.id, BASIN)

    def shares(self) -> dict[str, WeatherShare]:
        used = self.newest().basin.summary.calibration
        assert not isinstance(used, Absent)
        return {one.name: one for one in used.weather_shares}

    def run_alone(self, model: str) -> Run:
        """Return a forecast with the weather of one model alone."""
        asked = ForecastParams(
            basins=[*BASINS],
            t0=self.newest().run.t0,
            horizon=HORIZON,
            weather="supplied",
            weather_id=self.stored[model],
        )
        (run,) = forecast(work_of(self.database, Clock(self.now)), RunRequest(asked, "on-request"))
        return run

    def alone(self, model: str) -> Mapping[str, RunSeries]:
        with self.database.reading() as session:
            return runs.series_of(session, self.run_alone(model).id, BASIN)

    def skill(self, model: str) -> Mapping[str, Sequence[float]]:
        weather = self.run_alone(model).weather
        assert weather is not None
        return weather.skill.correlations


@pytest.fixture
def here(trained_store: Database) -> TwoModels:
    service = TwoModels(trained_store)
    calibrated(service)
    return service


def values(series: Mapping[str, RunSeries], name: str = run_arrays.CALIBRATED) -> np.ndarray:
    return series[name].values


def test_with_one_weather_model_nothing_is_mixed(here: TwoModels) -> None:
    here.next_day(GOOD)
    assert here.shares() == {}
    assert run_arrays.OF_WEATHER not in here.series()
    np.testing.assert_array_equal(values(here.series()), values(here.alone(GOOD)))


def test_two_models_are_mixed_equally_at_first(here: TwoModels) -> None:
    here.next_day(WET, GOOD)
    series = here.series()
    own = series[run_arrays.OF_WEATHER]
    assert {*own.axes["weather"]} == {WET, GOOD}
    by_model = dict(zip(own.axes["weather"], own.values, strict=True))
    for model in (WET, GOOD):
        np.testing.assert_array_equal(by_model[model], values(here.alone(model)))
    halves = np.full((2, HORIZON), 0.5)
    expected = mixed(own.values.astype(float).swapaxes(1, 2), halves).T
    np.testing.assert_allclose(values(series), expected, rtol=1e-6)
    assert {model: set(one.by_lead) for model, one in here.shares().items()} == {WET: {0.5}, GOOD: {0.5}}
    low, high = (np.quantile(values(series, run_arrays.PATHS), level, axis=0) for level in (0.05, 0.95))
    levels = series[run_arrays.CALIBRATED].axes["level"]
    assert (low >= values(series)[levels.index(0.02)]).all()
    assert (high <= values(series)[levels.index(0.98)]).all()


def losses_before(here: TwoModels, basin: str, models: Sequence[str], issue_days: int) -> Losses:
    """Return what the stored forecasts of the days before lost, by the flow that had come."""
    scores, t0 = np.full((len(models), issue_days, HORIZON), np.nan), here.newest().run.t0
    apart = np.full((len(models), *scores.shape), np.nan)
    with here.database.reading() as session:
        flow = load_discharge(session, basin, ["synthetic"], Period(t0 - issue_days + 1, t0))
        issued = {run.t0: run for run in runs.list_runs(session, basin=basin, purpose="operational")}
        for age in range(1, issue_days + 1):
            own = runs.series_of(session, issued[t0 - age].id, basin)[run_arrays.OF_WEATHER]
            quantiles = own.values[[own.axes["weather"].index(model) for model in models]].swapaxes(1, 2).astype(float)
            came = np.asarray(flow, dtype=float)[issue_days - age :][:HORIZON]
            for row, of_model in enumerate(quantiles):
                scores[row, age - 1, : len(came)] = crps(of_model[: len(came)], LEVELS, came)
            apart[:, :, age - 1, : len(came)] = distances(quantiles[:, : len(came)])
    return Losses.of(scores, apart, np.arange(1.0, issue_days + 1))


def test_shares_follow_the_flow_that_came_and_a_missing_model_leaves_its_own(here: TwoModels) -> None:
    for _ in range(5):
        here.next_day(WET, GOOD)
    found = here.shares()
    losses = {basin: losses_before(here, basin, [*found], 4) for basin in BASINS}
    rain = [here.skill(model)["precipitation"] for model in found]
    expected = losses[BASIN].shares(Losses.mean([*losses.values()]), expected_losses(rain, [1, 1]))
    np.testing.assert_allclose([one.by_lead for one in found.values()], expected, atol=1e-4)
    assert abs(expected[0, 0] - 0.5) > 0.01
    assert {one.issues for one in found.values()} == {4}

    here.next_day(WET)
    left = here.shares()
    assert left[WET].by_lead == (1.0,) * HORIZON
    assert (left[GOOD].by_lead, left[GOOD].id) == ((0.0,) * HORIZON, None)
    assert "no forecast of the last day" in str(left[GOOD].reason)
    assert run_arrays.OF_WEATHER not in here.series()
    np.testing.assert_array_equal(values(here.series()), values(here.alone(WET)))

    here.next_day(WET, GOOD)
    assert {one.issues for one in here.shares().values()} == {5}


def test_past_days_that_are_filled_have_the_shares_of_the_first_to_come(here: TwoModels) -> None:
    here.next_day(WET, GOOD)
    here.next_day(WET, GOOD, weather=False)
    run = here.newest().run
    assert (run.filled_days, run.horizon_days) == (1, HORIZON + 1)
    assert {len(one.by_lead) for one in here.shares().values()} == {HORIZON}
    assert values(here.series(), run_arrays.OF_WEATHER).shape[0] == 2


def test_readers_see_the_mixture_its_shares_and_on_request_each_model(here: TwoModels) -> None:
    here.next_day(WET, GOOD)
    here.next_day(WET, GOOD)
    series, run = here.series(), here.newest().run
    with serving(here.database.url, here.now) as client:
        asked = {"units": "mm/day"}
        answer = client.get(f"/v1/basins/{BASIN}/forecasts/latest", params=asked).json()
        models = client.get(f"/v1/basins/{BASIN}/weather-models", params=asked).json()
        table = client.get(f"/v1/basins/{BASIN}/weather-models", params={"format": "csv"})
        page = client.get(f"/basins/{BASIN}", params={"drawn": "each weather model"}).text
        without = client.get(f"/basins/{BASIN}").text
        outlook = client.get(f"/v1/basins/{BASIN}/outlook", params=asked).json()
    middle = series[run_arrays.CALIBRATED].axes["level"].index(0.5)
    assert answer["calibrated"]["median"] == pytest.approx(values(series)[middle].tolist(), rel=1e-5)
    assert answer["published"]["median"] == answer["calibrated"]["median"]
    assert outlook["days"]["quantiles"]["median"] == answer["calibrated"]["median"]
    of_models = {one["name"]: one for one in answer["calibration"]["weather_models"]}
    assert of_models.keys() == {WET, GOOD} == models["median"].keys()
    assert of_models[GOOD]["by_lead"] == pytest.approx(list(here.shares()[GOOD].by_lead))
    assert models["weather_models"] == answer["calibration"]["weather_models"]
    own = dict(zip(series[run_arrays.OF_WEATHER].axes["weather"], values(series, run_arrays.OF_WEATHER), strict=True))
    for name, flow in models["median"].items():
        assert flow == pytest.approx(own[name][middle].tolist(), rel=1e-5)
    assert "median_late_good" in table.text
    assert f"several weather models, with the mean share of each: {run.weather_name}" in answer["weather_note"]
    assert (page.count(WET) - without.count(WET)) > 0
