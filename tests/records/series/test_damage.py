"""A damaged row is never read, and is reported with its place and remedy."""

import re

import numpy as np
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period, day
from records.database import checksums
from records.database.engine import Database
from records.runs import states
from records.runs.tables import STATES
from records.series import revisions, series, series_writer
from records.series.series_writer import Written
from records.series.year_rows import REVISIONS, SERIES, DamagedSeries
from testing import series_history
from testing.records import BASIN, NOW, a_basin, a_source, a_state, a_version, daily, instant

PRODUCT, VARIABLE = "maurer_extended", "precipitation"
KEY = (BASIN, PRODUCT, VARIABLE)
YEARS = Period(day("1999-01-01"), day("2000-12-31"))
DEPTHS = tuple(range(365 + 366))


def a_record(session: Session, basin: str = BASIN) -> None:
    """Store two whole years."""
    a_basin(session, basin)
    series_writer.write(session, basin, PRODUCT, VARIABLE, daily("1999-01-01", *DEPTHS), a_source(session), NOW)


def flip(session: Session, column: str, year: int = 1999, basin: str = BASIN) -> None:
    """Flip the lowest bit of the second byte of a stored year."""
    of_year = select(SERIES).filter_by(basin_id=basin, year=year)
    content = bytearray(getattr(session.execute(of_year).one(), column))
    content[1] ^= 1
    changed = update(SERIES).where(SERIES.c.basin_id == basin, SERIES.c.year == year)
    session.execute(changed.values({column: bytes(content)}))


@pytest.mark.parametrize("column", ["value_bytes", "flag_bytes"])
def test_a_flipped_bit_is_reported_and_never_read(database: Database, column: str) -> None:
    with database.transaction() as session:
        a_record(session)
        flip(session, column)
        result = f"{VARIABLE} of {PRODUCT} in {BASIN} in 1999 is damaged .* ingest the whole year again"
        with pytest.raises(DamagedSeries, match=result):
            series.read(session, *KEY)
        with pytest.raises(DamagedSeries, match=result):
            series.read_many(session, [BASIN], PRODUCT, [VARIABLE], YEARS)
        ((_, stored),) = series.read_product(session, [BASIN], PRODUCT)
        assert re.search(result, str(stored[VARIABLE]))
        with pytest.raises(DamagedSeries, match=result):
            revisions.as_known_at(session, *KEY, NOW)


def test_the_others_of_a_product_are_read_where_a_damaged_series_is_skipped(database: Database) -> None:
    with database.transaction() as session:
        a_record(session)
        flip(session, "value_bytes")
        series_writer.write(
            session, BASIN, PRODUCT, "tmax", daily("1999-01-01", 1.0, unit="degC"), a_source(session), NOW
        )
        ((_, stored),) = series.read_product(session, [BASIN], PRODUCT)
        assert [name for name, one in stored.items() if not isinstance(one, DamagedSeries)] == ["tmax"]


def test_other_years_and_which_days_are_known_are_read_all_the_same(database: Database) -> None:
    with database.transaction() as session:
        a_record(session)
        flip(session, "flag_bytes")
        other = Period(day("2000-01-01"), day("2000-12-31"))
        part = series.read(session, *KEY, other)
        assert part is not None
        assert part.values.tolist() == [*DEPTHS[365:]]
        assert series.extent(session, [BASIN], PRODUCT, [VARIABLE]) == {(BASIN, VARIABLE): YEARS}


def test_a_row_in_the_place_of_another_is_reported(database: Database) -> None:
    with database.transaction() as session:
        for basin in (BASIN, "SYNTH-01"):
            a_basin(session, basin)
            series_writer.write(
                session, basin, PRODUCT, VARIABLE, daily("1999-01-01", *basin.encode()), a_source(session), NOW
            )
        mine, other = session.execute(select(SERIES).order_by(SERIES.c.basin_id.desc()))
        content = {name: getattr(other, name) for name in ("value_bytes", "flag_bytes", "checksum")}
        session.execute(update(SERIES).where(SERIES.c.basin_id == mine.basin_id).values(content))
        assert series.read(session, other.basin_id, PRODUCT, VARIABLE) is not None
        with pytest.raises(DamagedSeries, match=mine.basin_id):
            series.read(session, mine.basin_id, PRODUCT, VARIABLE)


@pytest.mark.parametrize("column", ["value_bytes", "flag_bytes"])
def test_writing_the_year_again_repairs_it_and_leaves_other_years(database: Database, column: str) -> None:
    with database.transaction() as session:
        a_record(session)
        flip(session, column)
        again = daily("1999-01-01", *DEPTHS[:365], unit="mm/day")
        written = series_writer.write(session, *KEY, again, a_source(session), instant("2009-01-01"))
        assert written == Written(changed_days=365, first_changed=day("1999-01-01"))
        mended = series.read(session, *KEY)
        assert mended is not None
        assert mended.values.tolist() == [*DEPTHS]
        assert series_history.revisions(session, *KEY) == []  # what was damaged is no earlier value
        assert len(series_history.arrivals(session, *KEY)) == 1


def test_some_days_alone_do_not_pass_for_a_damaged_year(database: Database) -> None:
    with database.transaction() as session:
        a_record(session)
        flip(session, "value_bytes")
        with pytest.raises(DamagedSeries, match="1999"):
            series_writer.write(session, *KEY, daily("1999-06-01", 1.0, 2.0), a_source(session), NOW)
        assert series_writer.write(session, *KEY, daily("2000-06-01", 1.0), a_source(session), NOW).changed_days == 1


def test_a_damaged_log_is_reported_where_it_is_asked_for(database: Database) -> None:
    with database.transaction() as session:
        a_record(session)
        series_writer.write(session, *KEY, daily("1999-06-01", 1.0, 2.0), a_source(session), instant("2009-01-01"))
        session.execute(update(REVISIONS).values(offset_bytes=b"\x00\x00\x01\x00"))
        with pytest.raises(DamagedSeries, match=f"{VARIABLE} of {PRODUCT} in {BASIN} in 1999"):
            series_history.revisions(session, *KEY)
        assert series.read(session, *KEY) is not None


def test_a_misplaced_state_and_one_with_another_flow_are_not_returned(database: Database) -> None:
    flow = np.array([1.0, 2.0], np.float32)
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        for at in ("2008-09-29", "2008-09-30"):
            states.put(session, [a_state(version, at, recent_flow=flow)], NOW)
        session.execute(
            update(STATES)
            .filter_by(day=day("2008-09-30"))
            .values(recent_flow=checksums.pack_arrays({"discharge": flow + 1}))
        )
        newest = states.newest_valid(session, version, BASIN, day("2008-09-30"))
        assert newest is not None
        assert newest.day == day("2008-09-29")
        of_many = states.newest_valid_many(session, version, [BASIN], day("2008-09-30"))[BASIN]
        assert of_many is not None
        assert (of_many.day, of_many.sha256) == (newest.day, newest.sha256)
        session.execute(update(STATES).filter_by(day=day("2008-09-29")).values(day=day("2008-09-28")))
        assert states.newest_valid(session, version, BASIN, day("2008-09-30")) is None
        states.put(session, [a_state(version, "2008-09-28", recent_flow=flow)], NOW)
        assert states.newest_valid(session, version, BASIN, day("2008-09-30")) is not None
