"""A what-if run is the forecast with other weather or other water at T0, stored apart from the forecasts."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day
from hydrology.weather.climate import saturation_vapour_pressure
from jobspec.changes import Changes
from jobspec.jobs.forecasting import WhatIfParams
from jobspec.kinds import InvalidRequest, read
from jobspec.training import InputsConfig
from models.forcing import Forcing
from operations.forecasting.plans import NothingToForecast
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import ONE_DAY
from operations.what_if import changed, what_if
from records.database.engine import Database
from records.forecasts import latest, volumes_and_recessions
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_arrays import RunSeries
from records.runs.runs import RunRequest
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.conftest import Copies
from tests.operations.forecasting.test_forecast import leak, one_run, state
from tests.operations.forecasting.test_origin import choose_snow
from tests.operations.forecasting.test_seasonal_volumes import change

T0 = day("2004-03-10")
BASIN = BASINS[0]
SNOW = [1, 3]


def ask(database: Database, changes: dict[str, Any] | None = None, **asked: Any) -> run_types.Run:
    given: dict[str, Any] = {"basins": [BASIN], "t0": "2004-03-10", "changes": changes or {}} | asked
    (run,) = what_if(work_of(database, CLOCK), RunRequest(WhatIfParams.model_validate(given)))
    return run


def reported(
    database: Database, run: str, basin: str = BASIN
) -> tuple[Mapping[str, RunSeries], Sequence[run_arrays.Ledger]]:
    with database.reading() as session:
        return runs.series_of(session, run, basin), runs.ledger_of(session, run, basin)


def base_of(run: run_types.Run) -> str:
    assert run.what_if is not None
    assert run.what_if.base is not None
    return run.what_if.base


def hashes(series: Mapping[str, RunSeries]) -> dict[str, str]:
    """Return the hash of each array that a run of any purpose stores."""
    return {
        name: hashlib.sha256(array.values.tobytes()).hexdigest()
        for name, array in series.items()
        if name != run_types.PEAKS_BY_RAIN
    }


def terms(ledgers: Sequence[run_arrays.Ledger], name: str) -> list[float]:
    return [ledger.terms[name] for ledger in ledgers]


@pytest.mark.parametrize("weather", ["observed", "climatology", "dry"])
@pytest.mark.parametrize(
    "changes", [{}, {"degrees": 0.0, "precipitation_percent": 0.0, "storm": {"mm": 0.0}, "increment": {"mm": 0.0}}]
)
def test_with_nothing_changed_it_equals_the_forecast_to_the_bit(
    trained_store: Database, weather: str, changes: dict[str, Any]
) -> None:
    choose_snow(trained_store, BASIN, SNOW)
    forecast = one_run(trained_store, weather=weather)
    run = ask(trained_store, changes, basins=list(BASINS), weather=weather)
    assert (run.purpose, base_of(run)) == ("what-if", forecast.id)
    for basin in BASINS:
        (ours, our_ledgers), (theirs, their_ledgers) = (
            reported(trained_store, of, basin) for of in (run.id, forecast.id)
        )
        assert hashes(ours) == hashes(theirs)
        assert our_ledgers == their_ledgers


def test_from_a_t0_without_a_stored_state_it_equals_the_forecast_too_and_stores_none(trained_store: Database) -> None:
    run = ask(trained_store)
    assert state(trained_store, BASIN, T0) is None
    with trained_store.reading() as session:
        assert states.newest_valid(session, run.version_id, BASIN, T0) is None
    forecast = one_run(trained_store)
    assert hashes(reported(trained_store, run.id)[0]) == hashes(reported(trained_store, forecast.id)[0])


@pytest.mark.parametrize("weather", ["observed", "climatology"])
@pytest.mark.parametrize(("where", "mm"), [("snow", 10.0), ("other", 10.0), ("all", 10.0), ("all", -0.005)])
def test_an_increment_is_a_term_of_the_ledger_and_explained_by_the_others(
    trained_store: Database, weather: str, where: str, mm: float
) -> None:
    choose_snow(trained_store, BASIN, SNOW)
    run = ask(trained_store, {"increment": {"mm": mm, "where": where}}, weather=weather)
    series, ledgers = reported(trained_store, run.id)
    base, of_base = reported(trained_store, base_of(run))
    assert terms(ledgers, "increment") == [mm, mm]
    assert not any("increment" in ledger.terms for ledger in of_base)
    assert np.array_equal(series["precipitation"].values, base["precipitation"].values)
    assert all(ledger.closes for ledger in ledgers)
    if weather == "observed":
        assert terms(ledgers, "precipitation") == terms(of_base, "precipitation")
        more = [
            sum(ledger.terms[name] - other.terms[name] for name in ("discharge", "loss", "storage change"))
            for ledger, other in zip(ledgers, of_base, strict=True)
        ]
        np.testing.assert_allclose(more, -mm, atol=2 * max(ledger.tolerance_mm for ledger in ledgers))
    else:
        entries = series[run_arrays.LEDGER]
        assert (run_types.ledger_entry(entries, "increment") == mm).all()
        residual, tolerance = (run_types.ledger_entry(entries, name) for name in run_types.CLOSURE)
        assert (np.abs(residual) <= tolerance).all()


def test_an_increment_goes_into_the_cells_that_were_asked_for_and_never_into_the_trash_cell(
    trained_store: Database,
) -> None:
    choose_snow(trained_store, BASIN, SNOW)
    before = reported(trained_store, one_run(trained_store, basins=[BASIN]).id)[0]["cells_at_t0"].values
    others = [cell for cell in range(1, before.shape[1]) if cell not in SNOW]
    for where, chosen in (("snow", SNOW), ("other", others), ("all", sorted([*SNOW, *others]))):
        after = reported(trained_store, ask(trained_store, {"increment": {"mm": 10.0, "where": where}}).id)[0][
            "cells_at_t0"
        ].values
        untouched = np.setdiff1d(np.arange(before.shape[1]), chosen)
        assert 0 in untouched
        assert np.array_equal(after[:, untouched], before[:, untouched])
        held = before[:, chosen].sum(axis=1, dtype=np.float64)
        np.testing.assert_allclose(after[:, chosen].sum(axis=1, dtype=np.float64), held + 10, rtol=1e-6)
        np.testing.assert_allclose(after[:, chosen], before[:, chosen] * (1 + 10 / held)[:, None], rtol=1e-6)


@pytest.mark.extended
def test_an_increment_goes_into_every_cell_of_buckets_which_have_no_trash_cell(copies: Copies) -> None:
    database, version = copies("buckets")
    before, after = (
        reported(database, ask(database, changes, version=version).id)[0]["cells_at_t0"].values
        for changes in ({}, {"increment": {"mm": 10.0, "where": "all"}})
    )
    assert (before[:, 0] > 0).all()
    held = before.sum(axis=1, dtype=np.float64)
    np.testing.assert_allclose(after, before * (1 + 10 / held)[:, None], rtol=1e-6, atol=1e-12)


@pytest.mark.extended
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(share=st.floats(-1, 3))
def test_whatever_is_added_or_taken_no_water_is_negative_and_the_ledger_closes(
    trained_store: Database, share: float
) -> None:
    cells = reported(trained_store, one_run(trained_store, basins=[BASIN], horizon=1).id)[0]["cells_at_t0"].values
    minimum = float(cells[:, 1:].sum(axis=1, dtype=np.float64).min())
    run = ask(trained_store, {"increment": {"mm": share * minimum, "where": "all"}}, horizon=30)
    series, ledgers = reported(trained_store, run.id)
    assert run.status == "issued"
    assert all(ledger.closes for ledger in ledgers)
    assert all((series[name].values >= -1e-6).all() for name in ("discharge", "storage", "loss", "cells_at_t0"))


def test_more_water_at_t0_brings_more_discharge(trained_store: Database) -> None:
    flows = [
        reported(trained_store, ask(trained_store, {"increment": {"mm": mm, "where": "all"}}, horizon=20).id)[0][
            "discharge"
        ].values.sum()
        for mm in (-0.005, 5.0, 50.0)
    ]
    assert flows == sorted(flows)


def weather_of(basin: str = BASIN) -> WeatherAhead:
    """Return two traces of five days."""
    rng = np.random.default_rng(1)
    mean, half = rng.uniform(-20, 20, (2, 5)), rng.uniform(0, 8, (2, 5))
    humid = saturation_vapour_pressure(mean) * rng.uniform(0.3, 1, (2, 5))
    auxiliary = np.stack([np.full((2, 5), 200.0), mean + half, mean - half, humid], axis=-1).astype(np.float32)
    mass = rng.gamma(0.5, 8, (2, 5)).astype(np.float32)
    return WeatherAhead(("a", "b"), Forcing(T0 + ONE_DAY, mass, auxiliary, np.zeros((2, 3), np.float32), (basin,) * 2))


INPUTS = InputsConfig(product="synthetic")


def with_changes(**changes: Any) -> WeatherAhead:
    weather = changed(BASIN, weather_of(), INPUTS, Changes.model_validate(changes))
    assert isinstance(weather, WeatherAhead)
    return weather


@given(st.floats(-100, 300), st.one_of(st.none(), st.floats(0.1, 500)))
def test_precipitation_is_scaled_and_the_storm_falls_whole_on_its_day(percent: float, storm: float | None) -> None:
    changes: dict[str, Any] = {} if storm is None else {"storm": {"mm": storm, "lead": 3}}
    before, after = weather_of().forcing, with_changes(precipitation_percent=percent, **changes).forcing
    expected = before.mass * (1 + percent / 100)
    expected[:, 2] += storm or 0
    np.testing.assert_allclose(after.mass, expected, rtol=1e-5, atol=1e-6)
    assert (after.mass >= 0).all()
    assert np.array_equal(after.auxiliary, before.auxiliary)


@given(st.floats(-20, 20))
def test_degrees_leave_the_relative_humidity_and_the_sun(degrees: float) -> None:
    before, after = weather_of().forcing, with_changes(degrees=degrees).forcing
    assert np.array_equal(after.mass, before.mass)
    srad, tmax, tmin, vp = (after.auxiliary[..., at] for at in range(4))
    assert np.array_equal(srad, before.auxiliary[..., 0])
    np.testing.assert_allclose(tmax, before.auxiliary[..., 1] + degrees, atol=1e-5)
    np.testing.assert_allclose(tmin, before.auxiliary[..., 2] + degrees, atol=1e-5)
    humidity = [
        of[..., 3] / saturation_vapour_pressure(of[..., 1:3].mean(axis=-1, dtype=np.float64))
        for of in (before.auxiliary, after.auxiliary)
    ]
    np.testing.assert_allclose(humidity[1], humidity[0], rtol=1e-5)
    assert (vp >= 0).all()


def test_a_storm_and_a_share_of_the_rain_are_in_the_precipitation_of_the_run(trained_store: Database) -> None:
    run = ask(trained_store, {"precipitation_percent": -50.0, "storm": {"mm": 40.0, "lead": 2}}, horizon=5)
    series, ledgers = reported(trained_store, run.id)
    base, _ = reported(trained_store, base_of(run))
    expected = base["precipitation"].values / 2
    expected[1] += 40
    np.testing.assert_allclose(series["precipitation"].values, expected, rtol=1e-6)
    assert series["discharge"].values.sum() > base["discharge"].values.sum()
    assert terms(ledgers, "precipitation") == pytest.approx([float(series["precipitation"].values.sum())] * 2)
    assert not any("increment" in ledger.terms for ledger in ledgers)


def test_it_is_stored_with_its_changes_and_who_posted_it_and_why(trained_store: Database) -> None:
    changes = {"degrees": 2.5, "storm": {"mm": 30.0, "lead": 2}}
    params = {"basins": [BASIN], "t0": "2004-03-10", "changes": changes, "note": "A warm storm?"}
    (run,) = what_if(work_of(trained_store, CLOCK), RunRequest(WhatIfParams.model_validate(params)), by="river office")
    assert run.what_if is not None
    assert (run.what_if.note, run.what_if.by) == ("A warm storm?", "river office")
    assert Changes.model_validate(run.what_if.changes) == Changes.model_validate(changes)
    with trained_store.reading() as session:
        base = runs.get(session, base_of(run))
        basins = [runs.basin_of(session, of, BASIN) for of in (run.id, base.id)]
    assert (base.purpose, base.what_if and base.what_if.changes) == ("what-if", {})
    assert basins[0].state_hash == basins[1].state_hash
    assert basins[0].inputs_hash != basins[1].inputs_hash


def test_runs_of_the_same_t0_horizon_and_weather_share_what_they_are_compared_with(trained_store: Database) -> None:
    first, second = ask(trained_store, {"degrees": 1.0}), ask(trained_store, {"degrees": 2.0})
    assert base_of(first) == base_of(second)
    assert base_of(ask(trained_store, {"degrees": 1.0}, horizon=5)) != base_of(first)
    forecast = one_run(trained_store)
    assert base_of(ask(trained_store, {"degrees": 1.0})) == forecast.id
    assert base_of(ask(trained_store, {"degrees": 1.0}, weather="climatology")) != forecast.id


def test_it_is_not_compared_with_a_forecast_of_other_weather_than_is_known_now(trained_store: Database) -> None:
    forecast = one_run(trained_store)
    change(trained_store, "tmax", Period(T0 + 2 * ONE_DAY, T0 + 3 * ONE_DAY), None)
    base = base_of(ask(trained_store, {"degrees": 1.0}))
    assert base != forecast.id
    assert (
        hashes(reported(trained_store, base)[0])["discharge"]
        != hashes(reported(trained_store, forecast.id)[0])["discharge"]
    )


def test_it_is_never_the_latest_forecast_nor_the_basis_of_a_season(trained_store: Database) -> None:
    forecast = one_run(trained_store, basins=[BASIN])
    run = ask(trained_store, {"degrees": 1.0}, t0="2004-04-10", weather="climatology")
    with trained_store.reading() as session:
        assert latest.latest(session, BASIN, CLOCK.now()).run == forecast
        assert run.id not in {
            of for of, _, _ in volumes_and_recessions.newest_on(session, BASIN, "climatology", CLOCK.now())
        }
        assert [created.id for created in runs.issued_runs(session, run.version_id, day("2005-01-01"))] == [forecast.id]


def test_the_same_job_leads_to_the_same_runs(trained_store: Database) -> None:
    params = WhatIfParams.model_validate({"basins": [BASIN], "t0": "2004-03-10", "changes": {"degrees": 1.0}})
    first = what_if(work_of(trained_store, CLOCK), RunRequest(params, key="a job"))
    assert what_if(work_of(trained_store, CLOCK), RunRequest(params, key="a job")) == first
    with trained_store.reading() as session:
        assert len(runs.list_runs(session, purpose="what-if")) == 2


def test_a_ledger_that_does_not_close_withholds_the_basin(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_run(trained_store)
    leak(monkeypatch, of_storage=1e-3)
    run = ask(trained_store, {"increment": {"mm": 10.0, "where": "all"}})
    with trained_store.reading() as session:
        assert runs.basin_of(session, run.id, BASIN).status == "withheld"


def test_a_basin_with_too_little_water_is_reported_and_the_others_are_computed(trained_store: Database) -> None:
    forecast = one_run(trained_store)
    held = {
        basin: reported(trained_store, forecast.id, basin)[0]["cells_at_t0"]
        .values[:, 1:]
        .sum(axis=1, dtype=np.float64)
        .min()
        for basin in BASINS
    }
    poorest, *_, richest = sorted(held, key=lambda basin: held[basin])
    mm = -(held[poorest] + held[richest]) / 2
    run = ask(trained_store, {"increment": {"mm": mm, "where": "all"}}, basins=list(BASINS))
    with trained_store.reading() as session:
        result = {basin.basin_id: basin for basin in runs.basins_of(session, run.id)}
    assert (run.status, result[richest].status, result[poorest].status) == ("partial", "issued", "failed")
    assert "mm that are to be taken away" in str(result[poorest].reason)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"increment": {"mm": -2000.0, "where": "all"}}, "the cells of member 0 hold .* mm, less than the 2000 mm"),
        ({"increment": {"mm": 5.0, "where": "snow"}}, "its snow cannot be separated from its other water"),
    ],
)
def test_an_impossible_change_is_refused_and_nothing_is_stored(
    trained_store: Database, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(NothingToForecast, match=f"{BASIN}: {sentence}"):
        ask(trained_store, changes)
    with trained_store.reading() as session:
        assert runs.list_runs(session) == []


def test_weather_that_cannot_be_is_refused_by_its_day() -> None:
    weather = weather_of()
    weather.forcing.auxiliary[1, 2, 1] = 65
    reason = str(changed(BASIN, weather, INPUTS, Changes(degrees=10.0)))
    assert reason == (f"{BASIN}: tmax of 2004-03-13 would be 75 degC, outside -100 to 70: change the weather by less.")
    weather.forcing.mass[0, 0] = 1500
    assert "precipitation of 2004-03-11 would be 2250 mm/day" in str(
        changed(BASIN, weather, INPUTS, Changes(precipitation_percent=50.0))
    )


def test_degrees_are_refused_where_the_network_takes_no_temperature() -> None:
    inputs = InputsConfig(product="synthetic", auxiliary=("srad",))
    weather = weather_of()
    only = WeatherAhead(
        weather.traces,
        Forcing(
            T0 + ONE_DAY,
            weather.forcing.mass,
            weather.forcing.auxiliary[..., :1],
            weather.forcing.static,
            weather.forcing.ids,
        ),
    )
    assert "takes no temperature" in str(changed(BASIN, only, inputs, Changes(degrees=1.0)))


@pytest.mark.extended
def test_a_network_whose_cells_hold_no_water_takes_other_weather_alone(copies: Copies) -> None:
    database, version = copies("lstm")
    run = ask(database, {"degrees": 3.0}, version=version)
    flow, of_base = (reported(database, of)[0]["discharge"].values for of in (run.id, base_of(run)))
    assert not np.array_equal(flow, of_base)
    with pytest.raises(NothingToForecast, match="cells do not hold water"):
        ask(database, {"increment": {"mm": 5.0, "where": "all"}}, version=version)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"changes": {"storm": {"mm": 5.0, "lead": 11}}}, "beyond the horizon of 10"),
        ({"changes": {"storm": {"mm": -1.0, "lead": 1}}}, "storm.mm"),
        ({"changes": {"degrees": 21.0}}, "changes.degrees"),
        ({"changes": {"precipitation_percent": -101.0}}, "changes.precipitation_percent"),
        ({"changes": {"increment": {"mm": 5.0, "where": "trash"}}}, "increment.where"),
        ({"changes": {"rain": 5.0}}, "changes.rain: there is no such field"),
        ({"note": "two\nlines"}, "note"),
    ],
)
def test_requests_out_of_bounds_are_refused_by_name(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence):
        read("what-if", params)
