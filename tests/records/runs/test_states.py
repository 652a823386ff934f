"""States are stored once, chained, and invalidated from a revised day on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sqlalchemy import text
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.basins.basins import UnknownBasin
from records.database import checksums
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.runs import states
from records.runs.states import StateConflict
from testing.records import BASIN, NOW, a_basin, a_reason, a_state, a_version, contents, instant

LATER = instant("2009-01-01")
FLOATS = st.sampled_from([np.float32, np.float64]).flatmap(lambda kind: arrays(kind, array_shapes(min_dims=1)))


@given(st.dictionaries(st.text("abch_", min_size=1), FLOATS, min_size=1))
def test_packed_arrays_come_back_to_the_bit(named: dict[str, np.ndarray]) -> None:
    back = checksums.unpack_arrays(checksums.pack_arrays(named))
    assert set(back) == set(named)
    for name, array in named.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert back[name].tobytes() == array.tobytes()


def test_a_members_hash_is_of_its_own_arrays_alone() -> None:
    h, c = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    before = checksums.member_hashes({"h": h, "c": c})
    assert before[0] == before[1]
    assert checksums.member_hashes({"c": c, "h": h}) == before
    h[1, 2] = 1.0
    after = checksums.member_hashes({"h": h, "c": c})
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert checksums.member_hashes({"h": c, "c": h})[1] != after[1]


def _a_version_of_the_basin(session: Session) -> str:
    a_basin(session)
    return a_version(session).id


def test_a_state_comes_back_as_it_was_put(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        first = states.put(session, [a_state(version, "2008-09-29")], NOW)[0]
        new = a_state(version, "2008-09-30", 2.0, parent_day=first.day, parent_hash=first.sha256)
        put = states.put(session, [new], NOW)[0]
    with database.reading() as session:
        stored = states.get(session, version, BASIN, day("2008-09-30"))
        assert states.get(session, version, BASIN, day("2008-10-01")) is None
    assert stored is not None
    np.testing.assert_array_equal(stored.arrays["c"], new.arrays["c"])
    assert (stored.sha256, stored.member_hashes) == (put.sha256, tuple(checksums.member_hashes(new.arrays)))
    assert (stored.parent_day, stored.parent_hash) == (day("2008-09-29"), first.sha256)
    assert (stored.created_at, stored.invalid_at) == (NOW, None)


def test_the_same_state_again_writes_nothing_and_another_is_a_conflict(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        states.put(session, [a_state(version, "2008-09-30")], NOW)
        before = contents(session)
        states.put(session, [a_state(version, "2008-09-30")], LATER)
        with pytest.raises(StateConflict, match="2008-09-30"):
            states.put(session, [a_state(version, "2008-09-30", 1.5)], LATER)
        assert contents(session) == before


def test_a_revision_invalidates_the_states_that_consumed_its_day(database: Database) -> None:
    days = ["2008-09-28", "2008-09-29", "2008-09-30"]
    with database.transaction() as session:
        versions = [_a_version_of_the_basin(session), a_version(session).id]
        a_basin(session, "SYNTH-01")
        for version in versions:
            for at in days:
                states.put(session, [a_state(version, at)], NOW)
        states.put(session, [a_state(versions[0], days[2], basin_id="SYNTH-01")], NOW)
        states.put(session, [a_state(versions[0], "2008-10-01", product="daymet")], NOW)

        revised = (BASIN, "maurer_extended", day("2008-09-29"))
        assert states.invalidate(session, *revised, a_reason("revised rain"), LATER) == 4
        assert states.invalidate(session, *revised, a_reason("again"), instant("2010-01-01")) == 0

        for version in versions:
            newest = states.newest_valid(session, version, BASIN, day("2008-09-30"))
            assert newest is not None
            assert newest.day == day("2008-09-28")
        invalid = states.get(session, versions[0], BASIN, day("2008-09-29"))
        assert invalid is not None
        assert (invalid.invalid_at, invalid.invalid_reason) == (LATER, a_reason("revised rain"))
        assert states.newest_valid(session, versions[0], "SYNTH-01", day("2008-09-30")) is not None
        other = states.newest_valid(session, versions[0], BASIN, day("2008-12-31"))
        assert other is not None
        assert other.product == "daymet"


def test_an_invalid_state_is_replaced(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        states.put(session, [a_state(version, "2008-09-30")], NOW)
        states.invalidate(session, BASIN, "maurer_extended", day("2008-09-01"), a_reason("revised"), NOW)
        assert states.newest_valid(session, version, BASIN, day("2008-09-30")) is None
        states.put(session, [a_state(version, "2008-09-30", 3.0)], LATER)
        newest = states.newest_valid(session, version, BASIN, day("2008-09-30"))
    assert newest is not None
    assert newest.arrays["c"][0, 0] == 3.0
    assert (newest.created_at, newest.invalid_at, newest.invalid_reason) == (LATER, None, None)


def test_the_newest_state_is_not_of_a_later_day(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        for at in ("2008-09-01", "2008-09-30"):
            states.put(session, [a_state(version, at)], NOW)
        newest = states.newest_valid(session, version, BASIN, day("2008-09-29"))
        assert newest is not None
        assert newest.day == day("2008-09-01")
        assert states.newest_valid(session, version, BASIN, day("2008-08-31")) is None


def test_the_newest_states_of_many_basins_are_those_of_each(database: Database) -> None:
    with database.transaction() as session:
        version, other = _a_version_of_the_basin(session), a_version(session).id
        for basin in ("SYNTH-01", "SYNTH-03"):
            a_basin(session, basin)
        for basin, at in ((BASIN, "2008-09-01"), (BASIN, "2008-09-30"), ("SYNTH-01", "2008-09-28")):
            states.put(session, [a_state(version, at, basin_id=basin)], NOW)
        states.put(session, [a_state(other, "2008-09-29")], NOW)
        states.put(session, [a_state(version, "2008-09-29", basin_id="SYNTH-01")], NOW)
        revised = ("SYNTH-01", "maurer_extended", day("2008-09-29"))
        states.invalidate(session, *revised, a_reason("revised"), NOW)
        names = [BASIN, "SYNTH-01", "SYNTH-03"]
        found = states.newest_valid_many(session, version, names, day("2008-09-29"))
    assert {name: state and state.day for name, state in found.items()} == {
        BASIN: day("2008-09-01"),
        "SYNTH-01": day("2008-09-28"),
        "SYNTH-03": None,
    }


def test_a_damaged_state_is_not_returned(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        states.put(session, [a_state(version, "2008-09-30")], NOW)
        damaged = checksums.pack_arrays({"c": np.full((2, 3), 9.0, dtype=np.float32)})
        session.execute(text("UPDATE states SET content = :content"), {"content": damaged})
        with pytest.raises(Corrupt, match="2008-09-30"):
            states.get(session, version, BASIN, day("2008-09-30"))


def test_the_sums_of_a_state_come_back_and_leave_its_hash_as_it_is(database: Database) -> None:
    sums = {"precipitation": np.array([1 / 3, 0.1]), "loss": np.array([1e5, 2.0])}
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        without = states.put(session, [a_state(version, "2008-09-29")], NOW)[0]
        summed = states.put(session, [a_state(version, "2008-09-30", sums=sums, spin_up_days=40)], NOW)[0]
        assert (without.sums, without.spin_up_days) == (None, 9999)
        assert (summed.spin_up_days, summed.sha256) == (40, without.sha256)
        assert summed.sums is not None
        assert {name: total.tobytes() for name, total in summed.sums.items()} == {
            name: total.tobytes() for name, total in sums.items()
        }


def test_a_state_with_damaged_sums_is_not_returned(database: Database) -> None:
    with database.transaction() as session:
        version = _a_version_of_the_basin(session)
        states.put(session, [a_state(version, "2008-09-30", sums={"loss": np.array([1.0, 2.0])})], NOW)
        damaged = checksums.pack_arrays({"loss": np.array([1.0, 3.0])})
        session.execute(text("UPDATE states SET sums = :sums"), {"sums": damaged})
        assert states.newest_valid(session, version, BASIN, day("2008-09-30")) is None
        with pytest.raises(Corrupt, match="2008-09-30"):
            states.get(session, version, BASIN, day("2008-09-30"))


def test_an_unknown_basin_is_refused(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        with pytest.raises(UnknownBasin):
            states.put(session, [a_state(version, "2008-09-30")], NOW)
