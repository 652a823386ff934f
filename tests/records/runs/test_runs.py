"""A run is stored whole and once, and what it claims is held to its numbers."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from records.database.array_codec import pack_text, unpack_text
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.runs import run_store, run_types, runs, states
from records.runs.run_arrays import Ledger, RunSeries, SinceEmpty, packed
from records.runs.run_summary import RunSummary
from records.runs.run_types import BasinResult, RunBasin, UnknownRun
from records.runs.run_weather import RunWhatIf
from records.runs.tables import RUN_CONTENTS, RUN_MEMBERS
from records.upkeep import integrity
from testing.databases import counted_statements
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_reason,
    a_run,
    a_state,
    a_version,
    contents,
    instant,
    issued,
    not_issued,
)

PLUME = RunSeries(
    "discharge",
    "mm/day",
    {"member": ["0", "1"], "lead": [1, 2, 3]},
    np.array([[1.5, np.nan, 0.1], [2.5, 1.0, 0.2]], dtype=np.float32),
)
QUANTILES = RunSeries("discharge_quantiles", "mm/day", {"level": [0.5], "lead": [1, 2, 3]}, np.ones((1, 3)))
SINCE = SinceEmpty(residual_mm=1e-6, precipitation_mm=10.0)
CLOSED = Ledger(
    "0", {"precipitation": 10.0, "discharge": -4.0, "loss": -5.0, "storage change": -1.0}, 1e-6, 1e-4, SINCE
)
OPEN = replace(CLOSED, member="1", residual_mm=-0.5)
WHOLE = BasinResult(
    basin=RunBasin(
        basin_id=BASIN,
        status="issued",
        parent_day=day("2008-09-29"),
        parent_hash="parent",
        state_hash="state",
        inputs_hash="inputs",
        area_m2=2.26e9,
        area_name="maurer_extended",
        summary=RunSummary(storage_mm=2.5, outside_training=("elev_mean",), filled_forcing={"tmax": 2}),
    ),
    series=[PLUME, QUANTILES],
    ledgers=[CLOSED],
)


def _a_version_of_the_basin(session: Session) -> str:
    a_basin(session)
    return a_version(session).id


def test_a_run_comes_back_as_it_was_stored(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        stored = a_run(session, version, WHOLE, forcing_cutoff=day("2008-09-30"))
    with database.reading() as session:
        assert runs.get(session, stored.id) == stored
        assert (stored.status, stored.reason, stored.members) == ("issued", None, ["0", "1"])
        assert runs.basins_of(session, stored.id) == [WHOLE.basin]
        assert runs.basin_of(session, stored.id, BASIN) == WHOLE.basin
        assert runs.ledger_of(session, stored.id, BASIN) == [CLOSED]
        series = runs.series_of(session, stored.id, BASIN)
        assert list(series) == ["discharge", "discharge_quantiles"]
        for given in (PLUME, QUANTILES):
            found = series[given.variable]
            assert (found.unit, found.axes, list(found.axes)) == (given.unit, given.axes, list(given.axes))
            assert found.values.dtype == given.values.dtype
            np.testing.assert_array_equal(found.values, given.values)
        assert list(runs.series_of(session, stored.id, BASIN, ["discharge", "snow"])) == ["discharge"]


def test_arrays_are_stored_in_their_own_order_of_elements(database: Database) -> None:
    turned = replace(PLUME, values=np.asfortranarray(PLUME.values).astype(">f4"))
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        run = a_run(session, version, replace(WHOLE, series=[turned])).id
        found = runs.series_of(session, run, BASIN)["discharge"]
    np.testing.assert_array_equal(found.values, PLUME.values)
    assert found.values.dtype.str == "<f4"


@pytest.mark.parametrize(
    ("results", "status", "reason"),
    [
        ([issued(), issued("SYNTH-01")], "issued", None),
        ([issued(), not_issued("rain is missing", "SYNTH-01")], "partial", "1 of 2 basins were not issued"),
        ([not_issued("open"), not_issued("lost", "SYNTH-01", "failed")], "failed", "2 of 2 basins were not issued"),
    ],
)
def test_a_runs_status_follows_from_its_basins(
    database: Database, results: list[BasinResult], status: str, reason: str | None
) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        a_basin(session, "SYNTH-01")
        run = a_run(session, version, *results)
    assert run.status == status
    assert str(run.reason or "").startswith(reason or "")
    assert (run.reason is None) == (reason is None)


def test_a_run_without_basins_has_a_reason(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        new = {name: getattr(a_run(session, version), name) for name in run_types.NewRun.__dataclass_fields__}
        with pytest.raises(InvalidInput, match="give its reason"):
            run_store.store(session, run_types.NewRun(**new | {"id": "a"}), [])
        failed = run_store.store(session, run_types.NewRun(**new | {"id": "b", "reason": a_reason("no forcing")}), [])
    assert (failed.status, failed.reason) == ("failed", a_reason("no forcing"))


def test_a_basin_with_an_open_ledger_is_not_issued(database: Database) -> None:
    open_basin = replace(WHOLE, ledgers=[CLOSED, OPEN])
    withheld = replace(
        open_basin, basin=RunBasin(basin_id=BASIN, status="withheld", reason=a_reason("member 1 is open"))
    )
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        with pytest.raises(InvalidInput, match="does not close for member 1"):
            a_run(session, version, open_basin)
        run = a_run(session, version, withheld)
        assert [ledger.closes for ledger in runs.ledger_of(session, run.id, BASIN)] == [True, False]


def test_the_database_refuses_a_closure_that_the_numbers_do_not_bear(database: Database) -> None:
    with database.transaction() as session:
        run = a_run(session, _a_version_of_the_basin(session), WHOLE)
        with pytest.raises(IntegrityError), session.begin_nested():
            session.execute(text("UPDATE run_basins SET residual_mm = 1.0"))
        open_ledger = text("UPDATE run_basins SET residual_mm = 1.0, closes = false")
        with pytest.raises(IntegrityError), session.begin_nested():
            session.execute(open_ledger)
        assert runs.ledger_of(session, run.id, BASIN) == [CLOSED]


def test_an_array_fits_its_axes(database: Database) -> None:
    short = replace(PLUME, axes={"member": ["0", "1"], "lead": [1, 2]})
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        with pytest.raises(InvalidInput, match=r"shape \(2, 3\).*lengths \(2, 2\)"):
            a_run(session, version, replace(WHOLE, series=[short]))


def test_a_run_that_cannot_be_stored_leaves_nothing(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        before = contents(session)
        with pytest.raises(IntegrityError):
            a_run(session, version, WHOLE, issued("SYNTH-01"))
        with pytest.raises(InvalidInput, match="given twice"):
            a_run(session, version, replace(WHOLE, series=[PLUME, PLUME]))
        with pytest.raises(ValueError, match="finite"):
            a_run(session, version, replace(WHOLE, ledgers=[replace(CLOSED, terms={"rain": np.nan})]))
        assert contents(session) == before


def test_a_run_is_never_stored_again(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        run = a_run(session, version, WHOLE, id="once")
        before = contents(session)
        with pytest.raises(IntegrityError):
            a_run(session, version, issued(), id=run.id)
        assert contents(session) == before


def test_runs_are_listed_newest_first_by_their_properties(database: Database) -> None:
    with database.transaction() as session:
        version, other = _a_version_of_the_basin(session), a_version(session).id
        a_basin(session, "SYNTH-01")
        first = a_run(session, version, t0=day("2008-09-28")).id
        second = a_run(session, version, issued("SYNTH-01"), t0=day("2008-09-29")).id
        later = instant("2008-10-02")
        third = a_run(session, other, purpose="reforecast", issued_at=later, available_at=later).id

        def ids(**wanted: object) -> list[str]:
            return [run.id for run in runs.list_runs(session, **wanted)]  # type: ignore[arg-type]

        assert ids() == [third, second, first]
        assert ids(limit=1) == [third]
        assert ids(after=third) == [second, first]
        assert ids(basin=BASIN) == [third, first]
        assert ids(version=version) == [second, first]
        assert ids(purpose="reforecast") == [third]
        assert ids(t0_from=day("2008-09-29"), t0_to=day("2008-09-29")) == [second]
        assert ids(issued_after=NOW) == [third]


def test_an_unknown_run_is_missed(database: Database) -> None:
    with database.transaction() as session:
        run = a_run(session, _a_version_of_the_basin(session)).id
        with pytest.raises(UnknownRun, match="'nothing'"):
            runs.get(session, "nothing")
        with pytest.raises(UnknownRun, match="does not contain SYNTH-01"):
            runs.series_of(session, run, "SYNTH-01")
        with pytest.raises(UnknownRun):
            runs.ledger_of(session, "nothing", BASIN)
        with pytest.raises(UnknownRun):
            runs.basins_of(session, "nothing")


def test_a_damaged_run_is_named_and_not_returned(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        whole, damaged = a_run(session, version, WHOLE).id, a_run(session, version, WHOLE).id
        content = bytearray(session.execute(select(RUN_CONTENTS).filter_by(run_id=damaged)).one().content)
        content[-1] ^= 1
        session.execute(RUN_CONTENTS.update().where(RUN_CONTENTS.c.run_id == damaged).values(content=bytes(content)))
        with pytest.raises(Corrupt, match=damaged):
            runs.series_of(session, damaged, BASIN)
        with pytest.raises(Corrupt, match=damaged):
            runs.ledger_of(session, damaged, BASIN)
        assert runs.ledger_of(session, whole, BASIN) == [CLOSED]
    (shown,) = integrity.check(database, NOW).damages
    assert (shown.table, shown.key) == ("run_contents", {"run_id": damaged, "basin_id": BASIN})


def _with_cells(session: Session, version: str, cells: np.ndarray, **chosen: object) -> str:
    """Store a run that began from the stored state of its T0."""
    state = states.get(session, version, BASIN, day("2008-09-30"))
    assert state is not None
    axes: dict[str, list[Any]] = {"member": ["0", "1"], "cell": list(range(cells.shape[1]))}
    basin = replace(WHOLE.basin, state_hash=state.sha256)
    result = BasinResult(basin=basin, series=[RunSeries("cells_at_t0", "mm", axes, cells)], ledgers=[CLOSED])
    return a_run(session, version, result, **chosen).id


def test_the_cells_at_t0_are_stored_once_and_outlive_their_state(database: Database) -> None:
    chance = np.random.default_rng(0)
    cells, other = chance.random((2, 2, 200), dtype=np.float32)

    def cells_of(run: str) -> RunSeries:
        return runs.series_of(session, run, BASIN)["cells_at_t0"]

    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        states.put(session, [a_state(version, "2008-09-30", arrays={"c": cells, "h": cells})], NOW)
        run = _with_cells(session, version, cells)
        changed = _with_cells(session, version, other, purpose="what-if")
        sizes = {row.run_id: len(row.content) for row in session.execute(select(RUN_MEMBERS))}
        assert sizes[run] < cells.nbytes / 4 < sizes[changed]
        before = cells_of(run)
        assert (before.values.tobytes(), dict(before.axes)) == (
            cells.tobytes(),
            {"member": ["0", "1"], "cell": list(range(200))},
        )
        assert cells_of(changed).values.tobytes() == other.tobytes()
        states.invalidate(session, BASIN, "maurer_extended", day("2008-09-30"), a_reason("rain was revised"), NOW)
        states.put(session, [a_state(version, "2008-09-30", arrays={"c": other, "h": cells})], NOW)
        session.expire_all()
        for left, of_run in ((cells, run), (other, changed)):
            assert cells_of(of_run).values.tobytes() == left.tobytes()
            assert dict(cells_of(of_run).axes) == dict(before.axes)


def test_the_cells_of_a_damaged_state_are_not_returned_until_it_is_computed_again(database: Database) -> None:
    cells = np.ones((2, 3), np.float32)
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        new = a_state(version, "2008-09-30", arrays={"c": cells})
        states.put(session, [new], NOW)
        run = _with_cells(session, version, cells)
        session.execute(text("UPDATE states SET content = :content"), {"content": b"rubbish"})
        with pytest.raises(Corrupt, match="forecast again"):
            runs.series_of(session, run, BASIN)
        assert runs.ledger_of(session, run, BASIN) == [CLOSED]
        states.put(session, [new], NOW)
        assert runs.series_of(session, run, BASIN)["cells_at_t0"].values.tobytes() == cells.tobytes()


def test_many_basins_are_read_each_of_its_own_run(database: Database) -> None:
    other = replace(WHOLE, basin=replace(WHOLE.basin, basin_id="SYNTH-01"), ledgers=[replace(CLOSED, residual_mm=0.0)])
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        a_basin(session, "SYNTH-01")
        first, second = a_run(session, version, WHOLE, other).id, a_run(session, version, other).id
        wanted = [(first, BASIN), (second, "SYNTH-01"), (second, BASIN)]
        series = runs.series_of_many(session, wanted)
        ledgers = {key: [*content.ledgers] for key, content in runs.content_of_many(session, wanted).items()}
        assert {one: list(found) for one, found in series.items()} == {
            wanted[0]: ["discharge", "discharge_quantiles"],
            wanted[1]: ["discharge", "discharge_quantiles"],
            wanted[2]: [],
        }
        assert ledgers == {wanted[0]: [CLOSED], wanted[1]: list(other.ledgers), wanted[2]: []}
        assert runs.series_of_many(session, wanted[:1], ["storage"]) == {wanted[0]: {}}
        assert (runs.series_of_many(session, []), runs.content_of_many(session, [])) == ({}, {})


def test_basins_of_a_long_run_are_packed_between_statements(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL would end a transaction that packs all of them at once."""
    other = replace(WHOLE, basin=replace(WHOLE.basin, basin_id="SYNTH-01"))
    monkeypatch.setattr(run_store, "BLOCK", 1)
    before = list[int]()
    with counted_statements() as statements, database.transaction() as session:
        version = _a_version_of_the_basin(session)
        a_basin(session, "SYNTH-01")

        def noted(*given: Any) -> bytes:
            before.append(len(statements))
            return packed(*given)

        monkeypatch.setattr(run_store, "packed", noted)
        run = a_run(session, version, WHOLE, other).id
        stored = runs.content_of_many(session, [(run, BASIN), (run, "SYNTH-01")])
    assert before[0] < before[1]
    assert [[*content.ledgers] for content in stored.values()] == [[CLOSED], [CLOSED]]


def test_a_run_on_a_dry_spell_is_a_what_if_and_nothing_else(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        run = a_run(session, version, forcing_kind="dry", purpose="what-if")
        before = contents(session)
        with pytest.raises(InvalidInput, match="can only be a what-if run"):
            a_run(session, version, forcing_kind="dry", purpose="operational")
        assert contents(session) == before
        with pytest.raises(IntegrityError), session.begin_nested():
            session.execute(text("UPDATE runs SET purpose = 'operational' WHERE id = :run"), {"run": run.id})


def test_runs_of_a_version_are_counted_up_to_the_clock(database: Database) -> None:
    later = instant("2008-10-02")
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        a_run(session, version, t0=day("2008-09-29"))
        a_run(session, version, t0=day("2008-09-28"), filled_days=3, issued_at=later, available_at=later)
        a_run(session, version, not_issued("open"), t0=day("2008-09-30"))
        a_run(session, version, t0=day("2008-09-30"), purpose="what-if")
        t0, filled_until = day("2008-09-29"), day("2008-10-01")
        assert runs.counts_by_version(session, NOW) == {version: runs.RunCounts(1, t0, t0, NOW)}
        assert runs.counts_by_version(session, later) == {version: runs.RunCounts(2, t0, filled_until, later)}
        assert len(runs.list_runs(session, available_by=NOW)) == 3
        assert len(runs.list_runs(session, available_by=later)) == 4


@pytest.mark.parametrize(
    ("stored", "summary"),
    [
        ({}, RunSummary()),
        (
            {"discharge_mm": 7.5, "peak_mm_per_day": 2.5, "peak_lead": 3, "storage_mm": 9.5, "filled_forcing": {}},
            RunSummary(storage_mm=9.5),
        ),
    ],
)
def test_a_summary_from_before_a_field_was_stored_or_dropped_still_reads(
    database: Database, stored: dict[str, object], summary: RunSummary
) -> None:
    with database.transaction() as session:
        run = a_run(session, _a_version_of_the_basin(session)).id
        session.execute(text("UPDATE run_basins SET summary = :summary"), {"summary": pack_text(stored)})
    with database.reading() as session:
        assert runs.basin_of(session, run, BASIN).summary == summary


def test_a_reason_is_stored_as_its_code_and_parameters_so_that_a_rewording_changes_no_row(database: Database) -> None:
    reason = absent(Reason.FORCING_REVISED, basin=BASIN)
    withheld = RunBasin(basin_id=BASIN, status="withheld", reason=reason, summary=RunSummary(normal_mm=reason))
    with database.transaction() as session:
        run = a_run(session, _a_version_of_the_basin(session), BasinResult(basin=withheld)).id
    with database.reading() as session:
        stored = session.execute(text("SELECT reason, summary FROM run_basins")).one()
        assert runs.basin_of(session, run, BASIN) == withheld
    code = {"code": "forcing_revised", "parameters": {"basin": BASIN}}
    assert json.loads(stored.reason) == unpack_text(bytes(stored.summary))["normal_mm"] == code


def test_a_summary_is_checked_when_it_is_written(database: Database) -> None:
    broken = BasinResult(basin=replace(WHOLE.basin, summary=RunSummary(storage_mm=float("nan"))))
    with pytest.raises(StatementError, match="finite number"), database.transaction() as session:
        a_run(session, _a_version_of_the_basin(session), broken)
    with database.reading() as session:
        assert runs.list_runs(session) == []


def test_an_invalid_stored_summary_is_refused_by_field_and_not_quoted(database: Database) -> None:
    with database.transaction() as session:
        run = a_run(session, _a_version_of_the_basin(session)).id
        summary = pack_text({"skipped_days": "secret", "horzion": 3})
        session.execute(text("UPDATE run_basins SET summary = :summary"), {"summary": summary})
    with database.reading() as session, pytest.raises(Corrupt, match=r"RunSummary.*skipped_days.*horzion") as refusal:
        runs.basin_of(session, run, BASIN)
    assert "secret" not in str(refusal.value)


def test_a_run_with_changes_stores_them_and_is_only_a_what_if(database: Database) -> None:
    asked = RunWhatIf(changes={"degrees": 2.0}, note="a warm spring", by="river office", base="a run")
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        run = a_run(session, version, purpose="what-if", what_if=asked)
        assert runs.get(session, run.id).what_if == asked
        with pytest.raises(InvalidInput, match="can only be a what-if run"):
            a_run(session, version, what_if=asked)


def test_runs_that_change_nothing_are_found_by_version_days_and_weather(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        alike = a_run(session, version), a_run(session, version, purpose="what-if")
        a_run(session, version, purpose="what-if", what_if=RunWhatIf(changes={"degrees": 2.0}))
        a_run(session, version, horizon_days=9)
        a_run(session, version, t0=day("2008-09-29"))
        a_run(session, version, forcing_kind="observed")
        a_run(session, version, not_issued("open"))
        (t0, kind) = alike[0].t0, alike[0].forcing_kind
        assert [run.id for run in runs.unchanged(session, version, t0, 10, kind)] == [alike[1].id, alike[0].id]
