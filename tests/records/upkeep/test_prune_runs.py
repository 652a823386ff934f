"""Which runs and states are outdated, and which parts of a run outlive its members."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.alerts import settle_alerts
from records.database import retention
from records.database.engine import Database
from records.forecasts import latest
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_weather import RunWhatIf
from records.runs.shared_cells import CELLS
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS, STATES
from records.upkeep import prune_runs
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_state, contents
from tests.app.factories import forecast, forecast_with_traces

SOON = NOW + timedelta(days=1)

UNCALIBRATED = absent(Reason.FAILED, message="Not calibrated.")


@pytest.fixture
def version(database: Database) -> str:
    with database.transaction() as session:
        a_basin(session)
        return a_promoted_version(session)


def store_as_before(session: Session, run: str) -> None:
    """Store the arrays of a run in one row, as before its members were stored apart."""
    content = runs.content_of_many(session, [(run, BASIN)])[run, BASIN]
    own = run_arrays.owner_of(run, BASIN)
    members = session.scalars(select(RUN_MEMBERS.c.content).filter_by(run_id=run)).one()
    cells = run_arrays.unpacked(run, BASIN, run_arrays.packed(own, (), ()), members, [CELLS]).series
    series = {**content.series, **cells}  # as they are stored: those of a state are left out
    packed = run_arrays.packed(own, series.values(), content.ledgers)
    session.execute(update(RUN_CONTENTS).filter_by(run_id=run).values(content=packed))
    session.execute(RUN_MEMBERS.delete().filter_by(run_id=run))


def thin(session: Session, ids: Iterable[str]) -> None:
    retention.note(session, "members", prune_runs.remove_members(session, [*ids]), NOW, 400)
    session.expire_all()


def test_the_newest_of_a_basin_and_those_of_alerts_and_what_ifs_are_not_outdated(
    database: Database, version: str
) -> None:
    with database.transaction() as session:
        old, alerted, base, newest = (
            a_run(session, version, forecast(), t0=day(at)).id
            for at in ("2008-09-01", "2008-09-02", "2008-09-03", "2008-09-04")
        )
        asked = RunWhatIf(changes={"degrees": 2.0}, base=base)
        a_run(session, version, forecast(), purpose="what-if", what_if=asked)
        young = a_run(session, version, forecast(), t0=day("2008-09-02"), created_at=NOW + timedelta(days=9)).id
        at = settle_alerts.DecisionTime(NOW, NOW)
        settle_alerts.settle(session, BASIN, runs.get(session, alerted), 10, UNCALIBRATED, at)
        assert prune_runs.outdated_members(session, SOON) == {old: 1}
        assert prune_runs.outdated_members(session, SOON, [base, newest, young]) == {}
        thin(session, [old])
        assert prune_runs.outdated_members(session, SOON) == {}


def test_more_old_runs_than_a_statement_may_have_parameters_are_outdated(database: Database, version: str) -> None:
    most = 65_535
    with database.transaction() as session:
        one = a_run(session, version, forecast(), t0=day("2008-09-29"))
        a_run(session, version, forecast())  # the newest
        row = dict(session.execute(select(run_types.RUNS).filter_by(id=one.id)).mappings().one())
        session.execute(run_types.RUNS.insert(), [row | {"id": f"{number:022x}"} for number in range(most)])
        assert len(prune_runs.outdated_members(session, SOON)) == most + 1


def test_a_what_if_run_that_a_younger_one_is_compared_with_is_not_outdated(database: Database, version: str) -> None:
    with database.transaction() as session:
        base, old = (a_run(session, version, forecast(), purpose="what-if").id for _ in range(2))
        asked = RunWhatIf(changes={"degrees": 2.0}, base=base)
        a_run(session, version, forecast(), purpose="what-if", what_if=asked, created_at=NOW + timedelta(days=9))
        assert prune_runs.outdated_what_ifs(session, SOON) == {old: 1}
        assert prune_runs.remove_what_ifs(session, [old]) == [old]
        assert [run.id for run in runs.list_runs(session) if run.created_at < SOON] == [base]


def stored_bytes(session: Session, run: str) -> int:
    contents = (select(table.c.content).filter_by(run_id=run) for table in (RUN_CONTENTS, RUN_MEMBERS))
    return sum(len(content) for query in contents for content in session.scalars(query))


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "in one row"])
@pytest.mark.parametrize("result", [forecast(), forecast_with_traces()], ids=["one weather", "traces"])
def test_quantiles_ledgers_and_what_verification_needs_outlive_the_members(
    database: Database, version: str, result: run_types.BasinResult, apart: bool
) -> None:
    with database.transaction() as session:
        run = a_run(session, version, result, horizon_days=3).id
        before, ledgers = runs.series_of(session, run, BASIN), runs.ledger_of(session, run, BASIN)
        if not apart:
            store_as_before(session, run)
            assert runs.series_of(session, run, BASIN).keys() == before.keys()
        size = stored_bytes(session, run)
        thin(session, [run])
        after = runs.series_of(session, run, BASIN)
        assert stored_bytes(session, run) < size
        assert runs.ledger_of(session, run, BASIN) == ledgers
        for name in ("discharge_quantiles", run_arrays.CALIBRATED, run_arrays.NORMAL):
            assert after[name].values.tobytes() == before[name].values.tobytes()
        assert run_arrays.levels_of_members(after).tobytes() == run_arrays.levels_of_members(before).tobytes()
        assert run_arrays.mean_of_members(after).tobytes() == run_arrays.mean_of_members(before).tobytes()
        assert (
            not {"discharge", "storage", "snow", "loss", "cells_at_t0", run_arrays.PATHS, run_types.ORIGIN}
            & after.keys()
        )
        if run_arrays.LEDGER in before:
            entries = before[run_arrays.LEDGER].axes["entry"]
            means = [
                float(run_types.ledger_entry(before[run_arrays.LEDGER], name).mean(dtype=np.float64))
                for name in entries
            ]
            assert after[run_arrays.LEDGER].values.tolist() == means
        shown = runs.basin_of(session, run, BASIN)
        assert shown.why_missing == shown.pruned == runs.issued_runs_of_basin(session, BASIN, [run])[run].pruned
        assert "pruned on 2008-10-01" in str(shown.why_missing)


def test_what_is_stored_apart_is_read_as_it_was_given(database: Database, version: str) -> None:
    given = forecast_with_traces()
    lead = next(of.axes["lead"] for of in given.series if of.variable == "discharge")
    own = run_arrays.RunSeries(  # of a version whose members have weights
        run_arrays.MEAN_OF_MEMBERS, "mm/day", {"lead": lead}, np.arange(len(lead), dtype=np.float64)
    )
    given = replace(given, series=[*given.series, own])
    with database.transaction() as session:
        run = a_run(session, version, given, horizon_days=3).id
        stored = runs.series_of(session, run, BASIN)
        assert {name: of.values.tobytes() for name, of in stored.items()} == {
            of.variable: of.values.tobytes() for of in given.series
        }
        one = next(iter(stored))
        assert [*runs.series_of(session, run, BASIN, [one])] == [one]
        thin(session, [run])
        assert runs.series_of(session, run, BASIN)[own.variable].values.tobytes() == own.values.tobytes()
        assert session.execute(select(RUN_MEMBERS)).all() == []


def test_a_damaged_run_stays_as_it_is(database: Database, version: str) -> None:
    with database.transaction() as session:
        run = a_run(session, version, forecast()).id
        store_as_before(session, run)
        session.execute(update(RUN_CONTENTS).values(content=b"rubbish"))
        thin(session, [run])
        assert session.execute(select(RUN_CONTENTS).filter_by(run_id=run)).one().content == b"rubbish"


def test_a_pruned_earlier_latest_forecast_is_reported_as_pruned(database: Database, version: str) -> None:
    later = NOW + timedelta(days=2)
    with database.transaction() as session:
        old = a_run(session, version, forecast(), t0=day("2008-09-29")).id
        a_run(session, version, forecast(), issued_at=later, available_at=later)
        thin(session, [old])
        found = latest.latest(session, BASIN, NOW)
        assert (found.run.id, found.basin.pruned is None) == (old, False)
        assert latest.latest(session, BASIN, later).basin.pruned is None


def test_the_last_valid_old_state_of_each_month_and_the_newest_stay(database: Database, version: str) -> None:
    stored = ("2008-07-30", "2008-08-31", "2008-09-30")
    with database.transaction() as session:
        for at in ("2008-07-01", "2008-07-30", "2008-07-31", "2008-08-30", "2008-08-31", "2008-09-29", "2008-09-30"):
            states.put(session, [a_state(version, at)], NOW)
        session.execute(
            update(STATES)
            .where(STATES.c.day == day("2008-07-31"))
            .values(invalid_at=NOW, invalid_reason=a_reason("rain was revised"))
        )
        outdated = states.outdated(session, SOON)
        assert [str(at) for _, _, at in outdated] == ["2008-07-01", "2008-07-31", "2008-08-30", "2008-09-29"]
        assert states.outdated(session, NOW) == {}
        some = [*outdated][:2]
        assert states.outdated(session, SOON, some) == dict.fromkeys(some, 1)
        assert states.remove(session, [*outdated]) == []
        left = [row[2] for row in contents(session)["states"]]
        assert [str(at) for at in sorted(left)] == list(stored)
        newest = states.newest_valid(session, version, BASIN, day("2008-08-15"))
        assert newest is not None
        assert str(newest.day) == "2008-07-30"


def test_a_state_of_a_day_to_come_is_not_outdated(database: Database, version: str) -> None:
    with database.transaction() as session:
        for at in ("2008-10-01", "2008-10-03", "2008-10-04", "2008-10-05"):  # as by a clock that was set ahead
            states.put(session, [a_state(version, at)], NOW)
        assert [str(at) for _, _, at in states.outdated(session, SOON)] == ["2008-10-01"]


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "in one row"])
def test_a_run_retains_its_cells_after_its_initial_state_is_pruned(
    database: Database, version: str, apart: bool
) -> None:
    cells = np.arange(6, dtype=np.float32).reshape(2, 3)
    with database.transaction() as session:
        for at in ("2008-09-28", "2008-09-29"):
            states.put(session, [a_state(version, at, arrays={"c": cells})], NOW)
        state = states.get(session, version, BASIN, day("2008-09-28"))
        assert state is not None
        axes: dict[str, list[Any]] = {"member": ["0", "1"], "cell": [0, 1, 2]}
        result = replace(
            forecast(state_hash=state.sha256),
            series=[run_arrays.RunSeries("cells_at_t0", "mm", axes, cells)],
            ledgers=(),
        )
        run = a_run(session, version, result, t0=day("2008-09-28")).id
        if not apart:
            store_as_before(session, run)
        states.remove(session, [*states.outdated(session, SOON)])
        session.expire_all()
        assert states.get(session, version, BASIN, day("2008-09-28")) is None
        assert runs.series_of(session, run, BASIN)["cells_at_t0"].values.tobytes() == cells.tobytes()
