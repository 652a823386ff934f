"""Bridges fitted on stored weather, applied, revised, and named by the forecasts that use them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.bridge import BRIDGED, MOVED, PRECIPITATION, SCALED, Corrections, DailyWeather
from hydrology.weather.forcing import WeatherForecast
from jobspec.jobs.data import BridgeFit
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.weather.fit_bridges import NothingToBridge, apply, fit, weather_of
from records.basins import basins
from records.database.engine import Database
from records.feeds.feeds import ProductConflict
from records.runs import run_types, runs, states
from records.runs.runs import RunRequest
from records.series import revisions, series, series_writer
from records.versions import versions
from records.weather import bridges, weather_issues
from testing import series_history
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.forecasting.test_traces import issue_of

ONE, OTHER, THIRD = BASINS
NEW = "OWN-new"
OVERLAP = Period.parse("2000-10-01..2003-09-30")
LIVE, LEARNT, NAME = "synthetic", "learnt", "live_as_learnt"
ASKED = BridgeFit.model_validate({"from": LIVE, "to": LEARNT, "period": OVERLAP})
T0 = day("2004-03-10")
_SEASON = np.cos(np.arange(12) * np.pi / 6)


def as_learnt(offset: float = 0.8) -> Corrections:
    """What makes of live weather that of the network: days that end earlier, less rain, warmer."""
    factors, steps = tuple((0.8 + 0.04 * _SEASON).tolist()), tuple((1.5 + 0.3 * _SEASON).tolist())
    return Corrections(offset, dict.fromkeys(SCALED, factors), dict.fromkeys(MOVED, steps))


def write(database: Database, basin: str, product: str, values: DailyWeather) -> None:
    with database.transaction() as session:
        source = revisions.register_source(session, product, "0" * 64, 1, CLOCK.wall())
        for name in BRIDGED:
            of_days = values.values[name].astype(np.float32)
            flags = np.where(np.isnan(of_days), Flag.ABSENT, 0).astype(np.uint8)
            one = DailySeries(values.first, of_days, flags, WEATHER[name].unit)
            series_writer.write(session, basin, product, name, one, source, CLOCK.now())


def stored_weather(database: Database, basin: str, product: str, period: Period | None = None) -> DailyWeather:
    with database.reading() as session:
        trained_store = weather_of(session, basin, product, period)
    assert trained_store is not None
    return trained_store


@pytest.fixture
def live(trained_store: Database) -> Database:
    """The country, whose weather is the live one, with what a network learnt from; and a basin without that."""
    with trained_store.transaction() as session:
        basins.upsert(session, replace(basins.get(session, ONE), id=NEW, areas={LIVE: 1e8}))
    for basin in BASINS:
        write(trained_store, basin, LEARNT, as_learnt().apply(stored_weather(trained_store, basin, LIVE)))
    write(trained_store, NEW, LIVE, stored_weather(trained_store, ONE, LIVE))
    return trained_store


def create_bridge(database: Database, **changes: object) -> bridges.Bridge:
    bridge = fit(work_of(database, CLOCK), NAME, ASKED.model_copy(update=changes))
    apply(work_of(database, CLOCK), NAME)
    return bridge


def correlation(one: DailyWeather, other: DailyWeather) -> float:
    days = one.period.overlap(other.period)
    assert days is not None
    rain = [part.over(days).values[PRECIPITATION] for part in (one, other)]
    whole = np.isfinite(rain).all(axis=0)
    return float(np.corrcoef(rain[0][whole], rain[1][whole])[0, 1])


def test_live_weather_is_bridged_to_the_product_of_the_training(live: Database) -> None:
    archive = stored_weather(live, ONE, LIVE)
    bridge = create_bridge(live)
    with live.reading() as session:
        own = {part.basin_id: part for part in bridges.parts_of(session, bridge.id)}
    assert own[ONE].corrections.day_offset == pytest.approx(0.8)
    skill = own[ONE].skill
    assert skill is not None
    assert skill.variables["tmax"].as_it_is.bias == pytest.approx(-1.5, abs=0.05)
    assert skill.variables["tmax"].bridged.bias == pytest.approx(0, abs=0.05)
    after = Period.parse("2003-10-01..2005-09-01")
    bridged, truth, raw = (stored_weather(live, ONE, product, after) for product in (NAME, LEARNT, LIVE))
    assert correlation(raw, truth) < 0.6 < correlation(bridged, truth) - 0.2
    for name in BRIDGED:
        assert abs(np.nanmean(bridged.values[name]) / np.nanmean(truth.values[name]) - 1) < 0.05
        np.testing.assert_array_equal(stored_weather(live, ONE, LIVE).values[name], archive.values[name])


def test_the_last_day_waits_for_the_next_and_then_comes(live: Database) -> None:
    """The offset puts a day's rain into two days of the live product, of which the second is known a day later."""
    create_bridge(live)
    last = stored_weather(live, ONE, LIVE).period.last
    bridged = stored_weather(live, ONE, NAME)
    assert bridged.period.last == last - 1
    assert bridged.complete[1:].all()
    more = stored_weather(live, ONE, LIVE).over(Period(last - 9, last + 1))
    write(
        live,
        ONE,
        LIVE,
        DailyWeather(more.first, {name: np.nan_to_num(of, nan=5.0) for name, of in more.values.items()}),
    )
    (outcome,) = apply(work_of(live, CLOCK), NAME, [ONE])
    assert (outcome.status, outcome.new_days, outcome.changed_days) == ("changed", len(BRIDGED), 0)
    assert stored_weather(live, ONE, NAME).period.last == last


def test_applied_again_nothing_is_stored_twice(live: Database) -> None:
    create_bridge(live)
    with live.reading() as session:
        before = {basin: series.stamp(session, basin, NAME) for basin in BASINS}
    assert {outcome.status for outcome in apply(work_of(live, CLOCK), NAME)} == {"unchanged"}
    write(live, ONE, LIVE, stored_weather(live, ONE, LIVE))
    assert {outcome.status for outcome in apply(work_of(live, CLOCK), NAME)} == {"unchanged"}
    with live.reading() as session:
        assert before == {basin: series.stamp(session, basin, NAME) for basin in BASINS}


def test_a_revision_flows_through_and_the_states_after_it_are_invalid(live: Database) -> None:
    version = bridged_version(live)
    run(live, version, "observed", T0)
    revised = stored_weather(live, ONE, LIVE, Period(T0 - 30, T0 - 30))
    for values in revised.values.values():
        values += 1
    write(live, ONE, LIVE, revised)
    (outcome,) = apply(work_of(live, CLOCK), NAME, [ONE])
    # Rain of one live day is of two bridged ones; the other four variables are of the day itself.
    assert (outcome.new_days, outcome.changed_days) == (0, 6)
    assert outcome.invalidated_states == 1
    with live.reading() as session:
        log = series_history.revisions(session, ONE, NAME, PRECIPITATION)
        assert [str(one.day) for one in log] == [str(T0 - 31), str(T0 - 30)]
        valid = states.newest_valid(session, version, ONE, T0)
    assert valid is not None
    assert valid.day < T0 - 31


def test_another_fit_takes_over_when_it_is_applied(live: Database) -> None:
    first = create_bridge(live)
    second = fit(
        work_of(live, CLOCK), NAME, ASKED.model_copy(update={"period": Period.parse("2001-10-01..2003-09-30")})
    )
    with live.reading() as session:
        assert bridges.applied(session, NAME, [ONE])[ONE].bridge.id == first.id
    before = stored_weather(live, ONE, NAME)
    assert {outcome.status for outcome in apply(work_of(live, CLOCK), NAME)} == {"changed"}
    with live.reading() as session:
        assert bridges.applied(session, NAME, [ONE])[ONE].bridge.id == second.id
    assert not np.array_equal(before.values["tmax"], stored_weather(live, ONE, NAME).values["tmax"])
    apply(work_of(live, CLOCK), first.id)
    with live.reading() as session:
        assert bridges.applied(session, NAME, [ONE])[ONE].bridge.id == first.id
    np.testing.assert_array_equal(before.values["tmax"], stored_weather(live, ONE, NAME).values["tmax"])


def test_a_basin_without_years_of_the_networks_product_gets_those_of_basins_like_it(live: Database) -> None:
    bridge = create_bridge(live)
    with live.reading() as session:
        parts = {part.basin_id: part for part in bridges.parts_of(session, bridge.id)}
        assert basins.get(session, NEW).areas[NAME] == 1e8
    assert set(parts[NEW].pooled_from) == set(BASINS)
    assert parts[NEW].pooled_reason == f"{NEW} has no weather of learnt on the days asked for."
    assert (parts[NEW].skill, parts[ONE].pooled_from) == (None, ())
    bridged = stored_weather(live, NEW, NAME)
    assert correlation(bridged, stored_weather(live, ONE, LEARNT)) > 0.9


def test_few_data_are_refused_with_the_reason_where_no_basins_are_like_it(live: Database) -> None:
    bridge = fit(work_of(live, CLOCK), NAME, ASKED, [ONE, OTHER, NEW])
    assert bridge.refused == {NEW: f"{NEW} has no weather of learnt on the days asked for."}
    with pytest.raises(NothingToBridge, match="365 days in common"):
        fit(
            work_of(live, CLOCK),
            NAME,
            ASKED.model_copy(update={"period": Period.parse("2000-10-02..2001-10-01")}),
            [ONE],
        )
    with pytest.raises(NothingToBridge, match="No basin has"):
        fit(work_of(live, CLOCK), NAME, ASKED.model_copy(update={"from_": "nldas"}))


def test_a_bridge_leads_to_another_product_and_overwrites_none(live: Database) -> None:
    for name, asked in ((LIVE, ASKED), (NAME, ASKED.model_copy(update={"to": LIVE}))):
        with pytest.raises(InvalidInput, match="three names"):
            fit(work_of(live, CLOCK), name, asked)
    write(live, ONE, "own", stored_weather(live, ONE, LIVE))
    with pytest.raises(ProductConflict, match="holds data that are not from a bridge"):
        fit(work_of(live, CLOCK), "own", ASKED)
    fit(work_of(live, CLOCK), NAME, ASKED, [ONE])
    with pytest.raises(InvalidInput, match="not of every basin"):
        apply(work_of(live, CLOCK), NAME, [OTHER])


def test_a_bridge_of_forecasts_is_not_applied(live: Database) -> None:
    fit(work_of(live, CLOCK), "ifs_as_live", ASKED.model_copy(update={"to": LEARNT, "model": "ifs"}))
    with pytest.raises(InvalidInput, match="go over it when they are used"):
        apply(work_of(live, CLOCK), "ifs_as_live")


def bridged_version(database: Database) -> str:
    """Store a version that takes the bridged product."""
    create_bridge(database)
    return retaken(database, NAME)


def retaken(database: Database, product: str) -> str:
    """Store the trained version as one that takes another product."""
    with database.transaction() as session:
        trained = versions.newest(session)
        config = trained.config | {"inputs": trained.config["inputs"] | {"product": product}}
        fields = {name: getattr(trained, name) for name in versions.NewVersion.__dataclass_fields__}
        new = versions.NewVersion(**fields | {"product": product, "config": config, "created_at": CLOCK.wall()})
        return versions.create(session, new, versions.members_of(session, trained.id)).id


def run(database: Database, version: str, kind: str, t0: object, **chosen: Any) -> run_types.Run:
    asked: dict[str, Any] = {"basins": [ONE], "t0": t0, "horizon": 5, "version": version, "weather": kind} | chosen
    (one,) = forecast(work_of(database, CLOCK), RunRequest(ForecastParams(**asked)))
    return one


def of_run(database: Database, one: run_types.Run) -> run_types.RunBasin:
    with database.reading() as session:
        return runs.basin_of(session, one.id, ONE)


def test_a_forecast_reports_its_bridge_and_its_inputs_hash_holds_it(live: Database) -> None:
    version = bridged_version(live)
    shown = of_run(live, run(live, version, "observed", T0))
    (bridge,) = shown.summary.bridges
    assert (bridge.name, bridge.from_product, bridge.to_product, bridge.pooled_from) == (NAME, LIVE, LEARNT, ())
    write(live, ONE, "copied", stored_weather(live, ONE, NAME))
    plain = of_run(live, run(live, retaken(live, "copied"), "observed", T0))
    assert (plain.summary.bridges, plain.state_hash) == ((), shown.state_hash)
    assert plain.inputs_hash != shown.inputs_hash


def supplied_by(database: Database, product: str, days: Period, model: str = "a-model") -> str:
    """Store a weather forecast with a product's values of some days."""
    values = stored_weather(database, ONE, product, days).values
    one = WeatherForecast(
        issue=issue_of(model=model),
        basin=ONE,
        traces=("a", "b"),
        first=days.first,
        values={name: np.repeat(of_days[None], 2, axis=0).astype(np.float32) for name, of_days in values.items()},
        units={name: WEATHER[name].unit for name in BRIDGED},
    )
    with database.transaction() as session:
        return weather_issues.store(session, [one], CLOCK.wall(), operational=True).issue_id


def discharge(database: Database, one: run_types.Run) -> Any:
    with database.reading() as session:
        return runs.series_of(session, one.id, ONE)["discharge"].values


def test_a_forecast_of_what_the_archive_holds_equals_the_hindcast_to_the_bit(live: Database) -> None:
    """The forecast begins after the live archive's last day, on which the rain of the day after T0 waits."""
    version = bridged_version(live)
    supplied_by(live, LIVE, Period(T0 + 2, T0 + 6))
    hindcast, ahead = (run(live, version, kind, T0) for kind in ("observed", "supplied"))
    assert np.array_equal(discharge(live, ahead)[:, 0], discharge(live, hindcast))
    assert np.array_equal(discharge(live, ahead)[:, 1], discharge(live, hindcast))
    assert [bridge.name for bridge in of_run(live, ahead).summary.bridges] == [NAME]


def test_a_forecast_too_short_for_its_bridge_is_not_taken(live: Database) -> None:
    version = bridged_version(live)
    issue = supplied_by(live, LIVE, Period(T0 + 1, T0 + 5))
    for chosen, reason in (
        ({}, "no weather forecast that is known holds"),
        ({"weather_id": issue}, "shorten the horizon"),
    ):
        with pytest.raises(NothingToForecast, match=reason):
            run(live, version, "supplied", T0, **chosen)


def test_a_day_that_neither_the_archive_nor_the_forecast_holds_is_not_guessed(live: Database) -> None:
    """The bridge of the model takes the forecast's first day, which the live archive lacks too."""
    version = bridged_version(live)
    write(live, ONE, "past_ifs", as_learnt().apply(stored_weather(live, ONE, LIVE)))
    second = {"from": "past_ifs", "to": LIVE, "period": OVERLAP, "model": "ifs"}
    fit(work_of(live, CLOCK), "ifs_as_live", BridgeFit.model_validate(second), [ONE])
    supplied_by(live, "past_ifs", Period(T0 + 2, T0 + 6), model="ifs")
    with pytest.raises(NothingToForecast, match="makes 3 of the 5 days"):
        run(live, version, "supplied", T0)


def test_a_forecast_goes_over_the_bridge_of_its_model_first(live: Database) -> None:
    version = bridged_version(live)
    past = as_learnt(0.0).apply(stored_weather(live, ONE, LIVE))
    write(live, ONE, "past_ifs", past)
    second = {"from": "past_ifs", "to": LIVE, "period": OVERLAP, "model": "ifs"}
    fit(work_of(live, CLOCK), "ifs_as_live", BridgeFit.model_validate(second), [ONE])
    supplied_by(live, "past_ifs", Period(T0 + 1, T0 + 6), model="ifs")
    hindcast, ahead = (run(live, version, kind, T0) for kind in ("observed", "supplied"))
    assert [bridge.name for bridge in of_run(live, ahead).summary.bridges] == ["ifs_as_live", NAME]
    np.testing.assert_allclose(discharge(live, ahead)[:, 0], discharge(live, hindcast), rtol=0.1)
