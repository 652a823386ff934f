"""Weather after T0 that is not the observed: a weather forecast, or the same days of other years."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from hydrology.base.calendar import Period, as_date, day
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from hydrology.weather.forcing_kinds import ForcingKind
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting import simulate
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from records.database.engine import Database
from records.forecasts.latest import latest
from records.runs import run_arrays, run_types, runs
from records.runs.runs import RunRequest
from records.series import series
from records.series.year_rows import SERIES
from records.weather import weather_issues
from records.weather.weather_issues import UnknownWeather
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import change_row
from testing.work import work_of
from tests.operations.forecasting.test_forecast import leak

T0 = day("2004-03-10")
AHEAD = Period(day("2004-03-11"), day("2004-03-17"))
VARIABLES = ("precipitation", "srad", "tmax", "tmin", "vp")
OTHER_YEARS = (2001, 2002, 2003, 2005)


def run_with(database: Database, kind: ForcingKind, clock: Clock = CLOCK, **chosen: Any) -> run_types.Run:
    asked: dict[str, Any] = {"basins": [*BASINS], "t0": T0, "horizon": len(AHEAD), "weather": kind} | chosen
    (run,) = forecast(work_of(database, clock), RunRequest(ForecastParams(**asked)))
    return run


def stored(database: Database, run: run_types.Run, basin: str = BASINS[0]) -> Mapping[str, run_arrays.RunSeries]:
    with database.reading() as session:
        return runs.series_of(session, run.id, basin)


def issue_of(reference: datetime = datetime(2004, 3, 11, tzinfo=UTC), **chosen: Any) -> WeatherIssue:
    given: dict[str, Any] = {"source": "a-source", "model": "a-model", "available_time": reference} | chosen
    return WeatherIssue(reference_time=reference, **given)


def observed_as_forecast(
    database: Database, basin: str, traces: int = 1, days: Period = AHEAD, issue: WeatherIssue | None = None
) -> WeatherForecast:
    """Return a weather forecast whose traces are all what was observed."""
    with database.reading() as session:
        values = series.read_many(session, [basin], "synthetic", VARIABLES, days)[0].T
    return WeatherForecast(
        issue=issue or issue_of(),
        basin=basin,
        traces=tuple(f"t{trace}" for trace in range(traces)),
        first=days.first,
        values={name: np.repeat(row[None], traces, axis=0) for name, row in zip(VARIABLES, values, strict=True)},
        units={name: WEATHER[name].unit for name in VARIABLES},
    )


def fill_records(database: Database, *forecasts: WeatherForecast, operational: bool = True) -> str:
    with database.transaction() as session:
        return weather_issues.store(session, forecasts, CLOCK.wall(), operational=operational).issue_id


def assert_each_trace_equals(
    traces: Mapping[str, run_arrays.RunSeries], hindcast: Mapping[str, run_arrays.RunSeries]
) -> None:
    """Compare a run with traces to the hindcast, to the bit."""
    count = len(traces["discharge"].axes["trace"])
    for trace in range(count):
        assert np.array_equal(traces["discharge"].values[:, trace], hindcast["discharge"].values)
        assert np.array_equal(traces["precipitation"].values[trace], hindcast["precipitation"].values)
        for name in ("storage", "loss"):
            mean = hindcast[name].values.mean(axis=0, dtype=np.float64).astype(np.float32)
            assert np.array_equal(traces[name].values[trace], mean)
    assert np.array_equal(traces["cells_at_t0"].values, hindcast["cells_at_t0"].values)


@pytest.mark.parametrize("traces", [1, 5])
def test_a_supplied_forecast_built_of_what_was_observed_equals_the_hindcast_to_the_bit(
    trained_store: Database, traces: int
) -> None:
    fill_records(trained_store, *(observed_as_forecast(trained_store, basin, traces) for basin in BASINS))
    hindcast, supplied = run_with(trained_store, "observed"), run_with(trained_store, "supplied")
    for basin in BASINS:
        assert_each_trace_equals(stored(trained_store, supplied, basin), stored(trained_store, hindcast, basin))
    if traces == 1:
        one, other = (stored(trained_store, run)["discharge_quantiles"].values for run in (supplied, hindcast))
        assert np.array_equal(one, other)


def make_every_year_like_t0s(database: Database) -> None:
    """Write the weather of the days ahead into the same days of every other year."""
    with database.transaction() as session:
        for row in session.execute(select(SERIES).where(SERIES.c.variable.in_(VARIABLES))).all():
            if row.year not in OTHER_YEARS:
                continue
            key = {"basin_id": row.basin_id, "product": row.product, "variable": row.variable, "year": as_date(T0).year}
            source = session.execute(select(SERIES).filter_by(**key)).one()
            values = np.frombuffer(row.value_bytes, "<f4").copy()
            begins, of_source = (
                int((np.datetime64(f"{year}-03-11") - np.datetime64(f"{year}-01-01")).astype(int))
                for year in (row.year, as_date(T0).year)
            )
            truth = np.frombuffer(source.value_bytes, "<f4")[of_source : of_source + len(AHEAD)]
            values[begins : begins + len(AHEAD)] = truth
            change_row(session, SERIES, row, value_bytes=values.tobytes())


def test_an_esp_whose_traces_are_all_the_truth_equals_the_hindcast_to_the_bit(trained_store: Database) -> None:
    make_every_year_like_t0s(trained_store)
    hindcast, esp = run_with(trained_store, "observed"), run_with(trained_store, "climatology")
    for basin in BASINS:
        arrays = stored(trained_store, esp, basin)
        assert arrays["discharge"].axes["trace"] == [str(year) for year in OTHER_YEARS]
        assert_each_trace_equals(arrays, stored(trained_store, hindcast, basin))


def test_an_esp_takes_the_weather_of_the_same_days_of_every_other_year(trained_store: Database) -> None:
    run = run_with(trained_store, "climatology")
    arrays = stored(trained_store, run)
    with trained_store.reading() as session:
        rain = series.read(session, BASINS[0], "synthetic", "precipitation")
    assert rain is not None
    for year, row in zip(OTHER_YEARS, arrays["precipitation"].values, strict=True):
        days = Period(day(f"{year}-03-11"), day(f"{year}-03-17"))
        np.testing.assert_array_equal(row, rain.over(days).values)
    assert arrays["discharge"].values.shape == (2, 4, 7)
    assert (run.forcing_kind, run.forcing_cutoff, run.weather) == ("climatology", T0, None)
    everything = arrays["discharge"].values.reshape(-1, 7)
    np.testing.assert_allclose(arrays["discharge_quantiles"].values[3], np.median(everything, axis=0), rtol=1e-6)


def test_an_esp_knows_no_year_that_has_not_ended_by_the_clock(trained_store: Database) -> None:
    run = run_with(trained_store, "climatology", Clock(datetime(2004, 3, 11, 14, tzinfo=UTC)))
    assert stored(trained_store, run)["discharge"].axes["trace"] == ["2001", "2002", "2003"]


def test_a_trace_gives_the_same_bits_whatever_runs_beside_it(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_with(trained_store, "climatology")
    monkeypatch.setattr(simulate, "SAMPLES", 1)
    apart = run_with(trained_store, "climatology")
    for basin in BASINS:
        one, other = stored(trained_store, whole, basin), stored(trained_store, apart, basin)
        assert all(np.array_equal(one[name].values, other[name].values) for name in one)


def test_the_ledger_of_every_member_and_trace_is_stored_and_closes(trained_store: Database) -> None:
    run = run_with(trained_store, "climatology")
    with trained_store.reading() as session:
        worst = runs.ledger_of(session, run.id, BASINS[0])
    arrays = stored(trained_store, run)
    ledger = dict(zip(arrays[run_arrays.LEDGER].axes["entry"], arrays[run_arrays.LEDGER].values, strict=True))
    residual, tolerance = ledger["residual"], ledger["tolerance"]
    assert residual.shape == (2, 4)
    assert (np.abs(residual) <= tolerance).all()
    np.testing.assert_allclose(-ledger["discharge"], arrays["discharge"].values.sum(axis=-1), rtol=1e-5)
    np.testing.assert_allclose(ledger["precipitation"][0], arrays["precipitation"].values.sum(axis=-1), rtol=1e-5)
    for member, row in enumerate(worst):
        place = arrays[run_arrays.LEDGER].axes["trace"].index(row.trace)
        assert place == np.abs(residual / tolerance)[member].argmax()
        assert row.residual_mm == pytest.approx(residual[member, place], rel=1e-6)


def test_a_ledger_that_does_not_close_withholds_the_basin_and_names_the_trace(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_with(trained_store, "observed")  # the states of T0 are sound
    leak(monkeypatch, of_rain=0.01)
    run = run_with(trained_store, "climatology")
    with trained_store.reading() as session:
        result = runs.basin_of(session, run.id, BASINS[0])
    assert result.status == "withheld"
    assert str(result.reason).startswith("The ledger does not close for member 0 with trace 200")


def test_a_run_names_its_weather_forecast_and_its_credit(trained_store: Database) -> None:
    issue = issue_of(licence="CC BY 4.0", credit="Weather data by a source")
    stored_id = fill_records(
        trained_store, *(observed_as_forecast(trained_store, basin, 3, issue=issue) for basin in BASINS)
    )
    run = run_with(trained_store, "supplied")
    assert run.weather is not None
    assert (run.weather.id, run.weather.model, run.weather.credit) == (stored_id, "a-model", "Weather data by a source")
    assert run.weather.reference_time == issue.reference_time
    assert (run.forcing_kind, run.forcing_cutoff, run.quantiles_of) == ("supplied", T0, "members and traces")
    with trained_store.reading() as session:
        assert runs.get(session, run.id) == run
        assert runs.basin_of(session, run.id, BASINS[0]).summary.traces == 3
        assert latest(session, BASINS[0], CLOCK.now()).run == run


def test_a_basin_without_a_weather_forecast_fails_by_name_and_the_rest_is_issued(trained_store: Database) -> None:
    fill_records(trained_store, *(observed_as_forecast(trained_store, basin) for basin in BASINS[:2]))
    run = run_with(trained_store, "supplied")
    with trained_store.reading() as session:
        by_basin = {row.basin_id: row for row in runs.basins_of(session, run.id)}
    assert [by_basin[basin].status for basin in BASINS] == ["issued", "issued", "failed"]
    assert "no weather forecast that is known holds 2004-03-11..2004-03-17" in str(by_basin[BASINS[2]].reason)


def test_basins_of_different_weather_forecasts_get_a_run_for_each(trained_store: Database) -> None:
    other = issue_of(model="another-model")
    fill_records(
        trained_store, observed_as_forecast(trained_store, BASINS[0]), observed_as_forecast(trained_store, BASINS[1])
    )
    fill_records(trained_store, observed_as_forecast(trained_store, BASINS[2], issue=other))
    issued = forecast(
        work_of(trained_store, CLOCK),
        RunRequest(ForecastParams(basins=[*BASINS], t0=T0, horizon=7, weather="supplied")),
    )
    models: dict[str, str] = {}
    with trained_store.reading() as session:
        for run in issued:
            assert run.weather is not None
            models |= {row.basin_id: run.weather.model for row in runs.basins_of(session, run.id)}
    assert models == dict(zip(BASINS, ("a-model", "a-model", "another-model"), strict=True))


def test_a_reforecast_uses_what_was_known_the_day_after_t0(trained_store: Database) -> None:
    known = issue_of(datetime(2004, 3, 10, 12, tzinfo=UTC), model="known")
    later = issue_of(available_time=datetime(2004, 3, 12, 1, tzinfo=UTC), model="later")
    for issue in (known, later):
        fill_records(trained_store, *(observed_as_forecast(trained_store, basin, issue=issue) for basin in BASINS))
    run = run_with(trained_store, "supplied")
    assert run.weather is not None
    assert run.weather.model == "known"


def test_a_weather_forecast_that_is_not_available_yet_is_not_used_even_by_its_id(trained_store: Database) -> None:
    issue = issue_of(available_time=datetime(2004, 3, 11, 14, tzinfo=UTC))
    stored_id = fill_records(
        trained_store, *(observed_as_forecast(trained_store, basin, issue=issue) for basin in BASINS)
    )
    for chosen in ({}, {"weather_id": stored_id}):
        with pytest.raises(NothingToForecast, match="no weather forecast that is known"):
            run_with(trained_store, "supplied", Clock(datetime(2004, 3, 11, 13, tzinfo=UTC)), **chosen)
        assert (
            run_with(trained_store, "supplied", Clock(datetime(2004, 3, 11, 14, tzinfo=UTC)), **chosen).status
            == "issued"
        )


def test_an_operators_weather_drives_a_run_only_where_it_is_named(trained_store: Database) -> None:
    sent = fill_records(
        trained_store, *(observed_as_forecast(trained_store, basin) for basin in BASINS), operational=False
    )
    with pytest.raises(NothingToForecast):
        run_with(trained_store, "supplied")
    assert run_with(trained_store, "supplied", weather_id=sent).weather


@pytest.mark.parametrize(
    ("kind", "chosen", "error", "shown"),
    [
        ("supplied", {"horizon": 8}, NothingToForecast, "holds 2004-03-11..2004-03-18"),
        ("supplied", {"weather_id": "nothing"}, UnknownWeather, "nothing"),
        ("climatology", {"t0": day("2009-01-01")}, NothingToForecast, "outside the synthetic record"),
    ],
)
def test_an_impossible_forecast_is_refused_with_the_reason(
    trained_store: Database, kind: ForcingKind, chosen: dict[str, Any], error: type[Exception], shown: str
) -> None:
    fill_records(trained_store, *(observed_as_forecast(trained_store, basin) for basin in BASINS))
    with pytest.raises(error, match=shown):
        run_with(trained_store, kind, **chosen)


def test_a_forecast_without_a_variable_that_the_version_takes_fails_by_name(trained_store: Database) -> None:
    whole = observed_as_forecast(trained_store, BASINS[0])
    lacking = replace(whole, values={name: values for name, values in whole.values.items() if name != "vp"})
    fill_records(trained_store, lacking)
    with pytest.raises(NothingToForecast, match="the weather forecast has no vp"):
        run_with(trained_store, "supplied", basins=[BASINS[0]])


def test_runs_with_traces_need_no_weather_of_the_days_ahead(trained_store: Database) -> None:
    last = day("2005-09-30")
    run = run_with(trained_store, "climatology", t0=None)
    assert run.t0 == last
    issue = issue_of(datetime.combine(as_date(last), datetime.min.time(), UTC))
    days = Period(last + 1, last + 7)
    created = replace(observed_as_forecast(trained_store, BASINS[0]), issue=issue, first=days.first)
    fill_records(trained_store, created)
    assert run_with(trained_store, "supplied", t0=None, basins=[BASINS[0]]).t0 == last
