"""A forecast starts from a warm state, closes its ledger, and is stored whole or not at all."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sqlalchemy import delete, select, update

from hydrology.base.absent import absent
from hydrology.base.calendar import Day, Period, day
from hydrology.base.digests import sha256
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.products import Credit
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from jobspec.jobs.forecasting import ForecastParams
from models import checkpoint
from models.ensemble import Ensemble
from models.forcing import Forcing
from models.nets.compiled import loader
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.versions.load_networks import load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.stored import table_of
from records.feeds import feeds
from records.forecasts.latest import NoForecast, latest
from records.runs import run_types, runs, states
from records.runs.runs import RunRequest
from records.runs.tables import STATES, State
from records.series import revisions, series, series_writer
from records.series.year_rows import SERIES
from records.versions import versions
from records.versions.versions import UnknownVersion, Weights
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import change_row
from testing.work import work_of

T0 = day("2004-03-10")


def one_run(database: Database, basins: Sequence[str] = BASINS, **request: object) -> run_types.Run:
    (run,) = forecast(
        work_of(database, CLOCK),
        RunRequest(ForecastParams.model_validate({"basins": list(basins), "t0": T0, **request})),
    )
    return run


def discharge(database: Database, run: run_types.Run, basin: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    with database.reading() as session:
        return runs.series_of(session, run.id, basin)["discharge"].values


def state(database: Database, basin: str, at: Day) -> State | None:
    with database.reading() as session:
        return states.get(session, versions.newest(session).id, basin, at)


def test_a_run_stores_discharge_storage_and_a_closed_ledger_per_member(trained_store: Database) -> None:
    run = one_run(trained_store, horizon=7)
    assert (run.status, run.t0, run.horizon_days, run.forcing_kind) == ("issued", T0, 7, "observed")
    assert run.forcing_cutoff == day("2004-03-17")
    with trained_store.reading() as session:
        for basin in BASINS:
            result = runs.basin_of(session, run.id, basin)
            arrays = runs.series_of(session, run.id, basin)
            ledgers = runs.ledger_of(session, run.id, basin)
            rain = series.read(session, basin, "synthetic", "precipitation")
            assert rain is not None
            assert arrays["discharge"].values.shape == (2, 7)
            assert arrays["cells_at_t0"].values.shape == (2, 5)
            at = int((T0 - rain.start).astype(int)) + 1
            np.testing.assert_array_equal(arrays["precipitation"].values, rain.values[at : at + 7])
            median = arrays["discharge_quantiles"].values[3]
            np.testing.assert_allclose(median, np.median(arrays["discharge"].values, axis=0), rtol=1e-6)
            assert result.area_m2 == basins.get(session, basin).areas["synthetic"]
            assert [ledger.member for ledger in ledgers] == ["0", "1"]
            for member, ledger in enumerate(ledgers):
                assert ledger.closes
                gone = arrays["discharge"].values[member].sum() + arrays["loss"].values[member].sum()
                stored = arrays["storage"].values[member, -1] - arrays["cells_at_t0"].values[member].sum()
                total = arrays["precipitation"].values.sum()
                assert gone + stored == pytest.approx(total, abs=ledger.tolerance_mm + 1e-4)
                assert ledger.terms["precipitation"] == pytest.approx(total, rel=1e-6)
                assert sum(ledger.terms.values()) == pytest.approx(ledger.residual_mm, abs=1e-12)


def test_a_run_stores_the_credit_of_weather_from_a_feed(trained_store: Database) -> None:
    credit = Credit("Weather data by Open-Meteo.com.", "CC BY 4.0")
    before = one_run(trained_store)
    with trained_store.transaction() as session:
        feeds.store_credit(session, "synthetic", "open-meteo-archive era5", credit)
    after = one_run(trained_store)
    with trained_store.reading() as session:
        shown = [runs.basin_of(session, run.id, BASINS[0]).summary.product_credit for run in (before, after)]
    assert shown == [None, credit]


def test_a_warm_start_gives_the_bits_of_a_cold_one(trained_store: Database, trained_file: Path, tmp_path: Path) -> None:
    for earlier in ("2002-12-24", "2003-10-01", "2004-03-09"):
        one_run(trained_store, t0=day(earlier))
    warm = one_run(trained_store)
    cold_database = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'cold.sqlite')}")
    cold = one_run(cold_database)
    for basin in BASINS:
        assert np.array_equal(discharge(trained_store, warm, basin), discharge(cold_database, cold, basin))
        one, other = state(trained_store, basin, T0), state(cold_database, basin, T0)
        assert one is not None
        assert other is not None
        assert one.sha256 == other.sha256
        assert one.spin_up_days == other.spin_up_days == len(Period(day("2000-10-01"), T0))
        assert one.sums is not None
        assert other.sums is not None
        assert {name: sums.tobytes() for name, sums in one.sums.items()} == {
            name: sums.tobytes() for name, sums in other.sums.items()
        }
        assert one.parent_day == day("2004-03-09")
        assert other.parent_day == day("2003-09-30")
    cold_database.close()


def test_a_basin_alone_gives_the_bits_it_gives_among_others(
    trained_store: Database, trained_file: Path, tmp_path: Path
) -> None:
    together = one_run(trained_store)
    alone_database = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'alone.sqlite')}")
    alone = one_run(alone_database, basins=["SYNTH-03"])
    with trained_store.reading() as session, alone_database.reading() as other:
        among, apart = runs.series_of(session, together.id, "SYNTH-03"), runs.series_of(other, alone.id, "SYNTH-03")
    alone_database.close()
    assert {name: one.values.tobytes() for name, one in among.items()} == {
        name: one.values.tobytes() for name, one in apart.items()
    }


def test_states_are_stored_at_the_ends_of_water_years_and_chained(trained_store: Database) -> None:
    one_run(trained_store)
    days = [day(text) for text in ("2001-09-30", "2002-09-30", "2003-09-30", "2004-03-10")]
    chain = [state(trained_store, "SYNTH-01", at) for at in days]
    for before, after in pairwise(chain):
        assert before is not None
        assert after is not None
        assert (after.parent_day, after.parent_hash) == (before.day, before.sha256)


def test_latest_serves_the_newest_t0(trained_store: Database) -> None:
    newest = one_run(trained_store, t0=day("2004-05-01"))
    one_run(trained_store, t0=day("2004-04-01"))
    with trained_store.reading() as session:
        assert latest(session, "SYNTH-01", CLOCK.now()).run.id == newest.id


def test_the_clock_sets_t0(trained_store: Database) -> None:
    clock = Clock(datetime(2003, 7, 5, 14, tzinfo=UTC))
    (run,) = forecast(work_of(trained_store, clock), RunRequest(ForecastParams()))
    assert run.t0 == day("2003-07-04")
    assert run.issued_at == datetime(2003, 7, 5, 14, tzinfo=UTC)
    (at_the_end,) = forecast(work_of(trained_store, CLOCK), RunRequest(ForecastParams(horizon=5)))
    assert at_the_end.t0 == day("2005-09-25")


def blank(
    database: Database,
    basin: str,
    variable: str,
    year: int,
    index: int,
    value: float,
    count: int = 1,
    *,
    product: str = "synthetic",
) -> None:
    """Write values straight into a stored year."""
    with database.transaction() as session:
        key = {"basin_id": basin, "product": product, "variable": variable, "year": year}
        row = session.execute(select(SERIES).filter_by(**key)).one()
        values = np.frombuffer(row.value_bytes, "<f4").copy()
        values[index : index + count] = value
        change_row(session, SERIES, row, value_bytes=values.tobytes())


@pytest.mark.parametrize(
    ("variable", "value", "count", "result"),
    [
        ("precipitation", float("nan"), 1, "precipitation of synthetic is missing on 2004-02-10"),
        ("precipitation", -1.0, 1, "precipitation of synthetic is negative on 2004-02-10"),
        ("vp", float("nan"), 6, "vp of synthetic is missing on 2004-02-10"),
    ],
)
def test_a_day_that_cannot_be_known_fails_its_basin_and_only_that(
    trained_store: Database, variable: str, value: float, count: int, result: str
) -> None:
    blank(trained_store, "SYNTH-02", variable, 2004, 40, value, count)
    run = one_run(trained_store)
    assert run.status == "partial"
    with trained_store.reading() as session:
        by_status = {row.basin_id: (row.status, row.reason) for row in runs.basins_of(session, run.id)}
    assert by_status["SYNTH-01"] == ("issued", None)
    assert by_status["SYNTH-02"][0] == "failed"
    assert result in str(by_status["SYNTH-02"][1])


def test_a_short_gap_of_temperature_is_filled_and_reported(trained_store: Database) -> None:
    blank(trained_store, "SYNTH-02", "tmax", 2004, 40, float("nan"), 5)
    run = one_run(trained_store)
    assert run.status == "issued"
    with trained_store.reading() as session:
        assert runs.basin_of(session, run.id, "SYNTH-02").summary.filled_forcing == {"tmax": 5}


def spoil(database: Database, name: str, value: float) -> None:
    """Put a value all over one of the tensors of member 1."""
    table = table_of(Weights)
    with database.transaction() as session:
        for row in session.execute(select(table).filter_by(label=1)).all():
            tensors, header = checkpoint.parse(row.weights)
            tensors[name] = torch.full_like(tensors[name], value)
            weights = checkpoint.dump(tensors, header)
            session.execute(
                update(table)
                .filter_by(version_id=row.version_id, label=1, which=row.which)
                .values(weights=weights, sha256=sha256(weights))
            )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused_by_their_name(trained_store: Database, value: float) -> None:
    spoil(trained_store, "input_gate.bias", value)
    with trained_store.reading() as session:
        version = versions.newest(session).id
    with pytest.raises(DataProblem, match=rf"member 1 of version {version} .*not finite \(input_gate.bias\)"):
        one_run(trained_store)
    with trained_store.reading() as session:
        assert runs.list_runs(session) == []


def test_nan_in_the_networks_withholds_every_basin(trained_store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were NaN to get past the check of the weights, the ledger would not let it pass."""
    spoil(trained_store, "redistribution.bias", float("nan"))
    monkeypatch.setattr(checkpoint, "not_finite", lambda _: [])
    run = one_run(trained_store)
    assert run.status == "failed"
    with trained_store.reading() as session:
        assert {basin.status for basin in runs.basins_of(session, run.id)} == {"withheld"}


def test_a_run_stores_the_program_that_computed_it(trained_store: Database) -> None:
    assert one_run(trained_store).program == (
        f"torch {torch.__version__} for {torch.backends.cpu.get_cpu_capability()}, recurrence {loader.choose().name}"
    )


def test_a_member_whose_water_does_not_close_withholds_the_basin(trained_store: Database) -> None:
    """Weights so large that float32 overflows lose water: the gate must see it."""
    spoil(trained_store, "redistribution.bias", 3e38)
    run = one_run(trained_store)
    assert run.status == "failed"
    with trained_store.reading() as session:
        for result in runs.basins_of(session, run.id):
            assert result.status == "withheld"
            assert "ledger of member 1" in str(result.reason)
        assert states.newest_valid(session, run.version_id, "SYNTH-01", T0) is None


@pytest.mark.parametrize("days", [364, 365, 366])
def test_a_state_of_the_first_year_issues_no_latest_forecast(trained_store: Database, days: int) -> None:
    record_first = day("2000-10-01")
    run = one_run(trained_store, t0=record_first + np.timedelta64(days - 1, "D"), basins=BASINS[:1])
    with trained_store.reading() as session:
        assert runs.basin_of(session, run.id, BASINS[0]).spin_up_days == days
        if days > 365:
            assert latest(session, BASINS[0], CLOCK.now()).run == run
        else:
            with pytest.raises(NoForecast, match="empty store"):
                latest(session, BASINS[0], CLOCK.now())


@pytest.mark.parametrize("before_t0", [True, False])
def test_negative_discharge_withholds_the_basin_though_the_water_adds_up(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch, before_t0: bool
) -> None:
    """As if a network took 0.1 mm from the river and lost it: the sum still closes."""
    each = Ensemble.each

    def broken(self: Ensemble, forcing: Forcing, start: Any, wanted: Sequence[str], *tag: Any) -> Any:
        for member, (outputs, last) in enumerate(each(self, forcing, start, wanted, *tag)):
            if member == 1 and before_t0 == ("storage" not in wanted):
                shift = outputs["discharge"][:, 3] + 0.1
                outputs["discharge"][:, 3] -= shift
                outputs["loss"][:, 3] += shift
            yield outputs, last

    monkeypatch.setattr(Ensemble, "each", broken)
    run = one_run(trained_store)
    assert run.status == "failed"
    with trained_store.reading() as session:
        for basin in runs.basins_of(session, run.id):
            assert basin.status == "withheld"
            assert "member 1 cannot be right: its discharge is negative: -0.1 mm/day" in str(basin.reason)


def leak(monkeypatch: pytest.MonkeyPatch, *, of_storage: float = 0, of_rain: float = 0) -> None:
    """Let every network lose a share of what it holds before a run of days, or of the rain of each day."""
    each = Ensemble.each

    def leaking(self: Ensemble, forcing: Forcing, start: Any, wanted: Sequence[str], *tag: Any) -> Any:
        less = replace(forcing, mass=(forcing.mass * (1 - of_rain)).astype(np.float32))
        held = start and [{name: values * np.float32(1 - of_storage) for name, values in one.items()} for one in start]
        return each(self, less, held, wanted, *tag)

    monkeypatch.setattr(Ensemble, "each", leaking)


@pytest.mark.parametrize("days", [1, 1200])
def test_a_share_of_the_rain_that_vanishes_each_day_withholds_the_basin(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """The ledger of every span closes to 0.9e-5 of the water. Since the empty store, less is allowed."""
    with trained_store.reading() as session:
        rain = series.read(session, "SYNTH-01", "synthetic", "precipitation")
    assert rain is not None
    first_rain = int(np.flatnonzero(rain.values > 1)[0])
    leak(monkeypatch, of_rain=0.9e-5)
    run = one_run(trained_store, t0=day("2000-10-01") + np.timedelta64(first_rain + days, "D"), basins=["SYNTH-01"])
    with trained_store.reading() as session:
        (result,) = runs.basins_of(session, run.id)
    assert result.status == "withheld"
    assert "since the empty store leaves" in str(result.reason)


@pytest.mark.extended
def test_a_share_of_the_storage_that_vanishes_each_day_withholds_the_basin(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forecasts computed day by day: each alone closes to 0.9e-5 of its storage, until the errors have added up."""
    first = day("2000-12-01")
    one_run(trained_store, t0=first, basins=["SYNTH-01"])
    leak(monkeypatch, of_storage=0.9e-5)
    result: list[run_types.RunBasin] = []
    while len(result) < 60 and (not result or result[-1].status == "issued"):
        run = one_run(trained_store, t0=first + np.timedelta64(1 + len(result), "D"), horizon=1, basins=["SYNTH-01"])
        with trained_store.reading() as session:
            result += runs.basins_of(session, run.id)
    assert result[0].status == "issued"
    assert result[-1].status == "withheld"
    assert "since the empty store leaves" in str(result[-1].reason)


def test_a_run_reports_what_its_states_leave_unexplained_since_the_empty_store(trained_store: Database) -> None:
    run = one_run(trained_store)
    with trained_store.reading() as session:
        ledgers = runs.ledger_of(session, run.id, "SYNTH-01")
        rain = series.read(session, "SYNTH-01", "synthetic", "precipitation")
    assert rain is not None
    for ledger in ledgers:
        fallen = rain.over(Period(rain.start, T0)).values.astype(float).sum()
        assert ledger.since_empty.precipitation_mm == pytest.approx(fallen)
        assert 0 < abs(ledger.since_empty.relative) < 2e-6


REFUSALS = [
    ({"t0": day("1999-01-01")}, NothingToForecast, "outside the synthetic record 2000-10-01..2005-09-30"),
    ({"t0": day("2005-09-25")}, NothingToForecast, "the record ends on 2005-09-30"),
    ({"product": "maurer"}, InvalidInput, "takes synthetic, not maurer"),
    ({"version": "nothing"}, UnknownVersion, "list the versions"),
    ({"basins": ["USGS-01013500"]}, basins.UnknownBasin, "list the basins"),
]


@pytest.mark.parametrize(("request_", "error", "result"), REFUSALS)
def test_an_impossible_forecast_is_refused_and_stores_nothing(
    trained_store: Database, request_: dict[str, Any], error: type[Exception], result: str
) -> None:
    with pytest.raises(error, match=result):
        one_run(trained_store, **request_)
    with trained_store.reading() as session:
        assert runs.list_runs(session) == []


def test_t0_after_the_clock_is_refused(trained_store: Database) -> None:
    clock = Clock(datetime(2003, 7, 5, tzinfo=UTC))
    with pytest.raises(InvalidInput, match="has not ended at 2003-07-05 00:00 UTC"):
        forecast(work_of(trained_store, clock), RunRequest(ForecastParams(basins=list(BASINS), t0=day("2003-07-05"))))


def test_t0_has_ended_where_the_basin_is(trained_store: Database) -> None:
    # At 13:00 UTC it is already the next day in Fiji.
    with trained_store.transaction() as session:
        basins.upsert(session, replace(basins.get(session, "SYNTH-01"), texts={"time_zone": "Pacific/Fiji"}))
    t0s = {}
    for basin in BASINS[:2]:
        (run,) = forecast(
            work_of(trained_store, Clock(datetime(2003, 7, 5, 13, tzinfo=UTC))),
            RunRequest(ForecastParams(basins=[basin])),
        )
        t0s[basin] = str(run.t0)
    assert t0s == {"SYNTH-01": "2003-07-05", "SYNTH-02": "2003-07-04"}
    clock = Clock(datetime(2003, 7, 5, 13, tzinfo=UTC))
    (run,) = forecast(
        work_of(trained_store, clock), RunRequest(ForecastParams(basins=list(BASINS), t0=day("2003-07-05")))
    )
    with trained_store.reading() as session:
        reasons = {row.basin_id: row.reason for row in runs.basins_of(session, run.id)}
    assert reasons["SYNTH-01"] is None
    choice = "choose 2003-07-04 or an earlier day."
    assert str(reasons["SYNTH-02"]) == f"SYNTH-02: T0 2003-07-05 has not ended at its location: {choice}"


@pytest.mark.parametrize(
    ("clock", "t0"),
    [
        ("2005-04-04T05:59", "2005-04-02"),  # 3 April has 23 hours
        ("2005-04-04T06:00", "2005-04-03"),
        ("2004-11-01T06:59", "2004-10-30"),  # 31 October has 25
        ("2004-11-01T07:00", "2004-10-31"),
    ],
)
def test_t0_ends_with_a_night_of_any_length(trained_store: Database, clock: str, t0: str) -> None:
    with trained_store.transaction() as session:
        basins.upsert(session, replace(basins.get(session, BASINS[0]), texts={"time_zone": "America/Denver"}))
    at = Clock(datetime.fromisoformat(clock).replace(tzinfo=UTC))
    (run,) = forecast(work_of(trained_store, at), RunRequest(ForecastParams(basins=[BASINS[0]])))
    assert str(run.t0) == t0


def rewrite(database: Database, basin: str, variable: str, period: Period, value: float) -> series_writer.Written:
    """Give a series one value over a period, as an ingest does."""
    with database.transaction() as session:
        old = series.read(session, basin, "synthetic", variable)
        assert old is not None
        values = np.full(len(period), value, np.float32)
        new = DailySeries(period.first, values, np.zeros(len(period), np.uint8), old.unit)
        source = revisions.register_source(session, "revision", "1" * 64, 1, CLOCK.wall())
        return series_writer.write(session, basin, "synthetic", variable, new, source, CLOCK.now())


def test_a_basin_with_a_state_and_one_without_do_not_mix(trained_store: Database, tmp_path: Path) -> None:
    """The record of the one begins on the day on which the other's state ends."""
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).where(SERIES.c.basin_id == "SYNTH-02", SERIES.c.year < 2002))
    one_run(trained_store, basins=["SYNTH-01"], t0=day("2001-12-31"))
    trained_store.close()  # its file then holds all that was written
    fresh = Database(f"sqlite:///{shutil.copy(tmp_path / 'country.sqlite', tmp_path / 'fresh.sqlite')}")
    mixed = one_run(trained_store, basins=["SYNTH-02", "SYNTH-01"])
    alone = {basin: one_run(fresh, basins=[basin]) for basin in ("SYNTH-01", "SYNTH-02")}
    for basin, run in alone.items():
        assert np.array_equal(discharge(trained_store, mixed, basin), discharge(fresh, run, basin))
    fresh.close()


def test_a_revision_during_a_forecast_leaves_no_state_of_the_old_forcing(trained_store: Database) -> None:
    revised: list[series_writer.Written] = []

    def revise(done: int, _total: int, _detail: str) -> None:
        if not revised:
            revised.append(
                rewrite(trained_store, "SYNTH-02", "precipitation", Period.parse("2004-02-20..2004-02-20"), 99.0)
            )
        assert done

    (run,) = forecast(
        work_of(trained_store, CLOCK, progress=revise), RunRequest(ForecastParams(basins=list(BASINS), t0=T0))
    )
    with trained_store.reading() as session:
        result = runs.basin_of(session, run.id, "SYNTH-02")
        newest = states.newest_valid(session, run.version_id, "SYNTH-02", T0)
    assert run.status == "partial"
    assert "revised during the forecast" in str(result.reason)
    assert newest is None or newest.day < day("2004-02-20")
    assert one_run(trained_store).status == "issued"


def test_an_attribute_revised_during_a_forecast_is_in_every_valid_state(trained_store: Database) -> None:
    basin, revised = "SYNTH-02", list[Basin]()

    def revise(_done: int, _total: int, _detail: str) -> None:
        if not revised:
            with trained_store.transaction() as session:
                name = load_version(session, versions.newest(session).id).config.inputs.static[0]
                revised.append(Basin(basin, attributes={name: 3 * basins.get(session, basin).attributes[name] + 50}))
                basins.upsert(session, revised[0])
                states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), CLOCK.wall())

    (run,) = forecast(
        work_of(trained_store, CLOCK, progress=revise), RunRequest(ForecastParams(basins=[basin, "SYNTH-01"], t0=T0))
    )
    with trained_store.reading() as session:
        assert "revised during the forecast" in str(runs.basin_of(session, run.id, basin).reason)
        assert states.newest_valid(session, run.version_id, basin, T0) is None
    assert one_run(trained_store).status == "issued"
    again = state(trained_store, basin, T0)
    with trained_store.transaction() as session:
        states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), CLOCK.wall())
    one_run(trained_store)
    afresh = state(trained_store, basin, T0)
    assert again is not None
    assert afresh is not None
    assert again.sha256 == afresh.sha256


def test_a_damaged_state_is_computed_again(trained_store: Database) -> None:
    first = one_run(trained_store)
    with trained_store.transaction() as session:
        session.execute(update(STATES).where(STATES.c.basin_id == "SYNTH-01").values(content=b"rubbish"))
    again = one_run(trained_store)
    assert again.status == "issued"
    assert np.array_equal(discharge(trained_store, first, "SYNTH-01"), discharge(trained_store, again, "SYNTH-01"))
    healed = state(trained_store, "SYNTH-01", T0)
    assert healed is not None


def test_provenance_reports_what_was_consumed_since_the_parent(trained_store: Database) -> None:
    cold, warm = one_run(trained_store), one_run(trained_store)
    with trained_store.reading() as session:
        one, other = (runs.basin_of(session, run.id, "SYNTH-01") for run in (cold, warm))
    assert one.parent_day is None
    assert other.parent_day == T0
    assert other.parent_hash == one.state_hash == other.state_hash
    assert one.inputs_hash != other.inputs_hash
