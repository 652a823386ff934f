"""What was replaced is listed, and what had not arrived is not known."""

import numpy as np

from hydrology.base.calendar import Period, day
from hydrology.base.series import Flag
from records.database.engine import Database
from records.series import revisions, series_writer
from testing import series_history
from testing.records import BASIN, NOW, a_basin, a_source, daily, instant
from testing.series_history import Arrival, Revision

KEY = (BASIN, "usgs", "discharge")
OCTOBER, NOVEMBER, DECEMBER = (instant(f"2008-{month}-01") for month in (10, 11, 12))


def _write_three_times(database: Database) -> tuple[int, int]:
    with database.transaction() as session:
        a_basin(session)
        first, second = a_source(session, "first"), a_source(session, "second")
        series_writer.write(session, *KEY, daily("2007-12-30", 1, np.nan, 3, unit="cfs"), first, OCTOBER)
        series_writer.write(session, *KEY, daily("2007-12-31", 2, 30, 4, unit="cfs"), second, NOVEMBER)
        series_writer.write(session, *KEY, daily("2008-01-01", 31, unit="cfs"), second, DECEMBER)
    return first, second


def test_revisions_report_the_old_value_when_and_from_which_source(database: Database) -> None:
    first, second = _write_three_times(database)
    with database.reading() as session:
        missing, *others = series_history.revisions(session, *KEY)
    assert np.isnan(missing.old_value)
    assert (missing.day, missing.old_flags, missing.replaced_at) == (day("2007-12-31"), Flag.MISSING, NOVEMBER)
    assert others == [
        Revision(day("2008-01-01"), 3.0, 0, NOVEMBER, first, second),
        Revision(day("2008-01-01"), 30.0, 0, DECEMBER, second, second),
    ]


def test_arrivals_are_ranges_of_new_days_only(database: Database) -> None:
    first, second = _write_three_times(database)
    with database.reading() as session:
        assert series_history.arrivals(session, *KEY) == [
            Arrival(day("2007-12-30"), day("2008-01-01"), OCTOBER, first),
            Arrival(day("2008-01-02"), day("2008-01-02"), NOVEMBER, second),
        ]


def test_a_series_stands_as_it_was_known(database: Database) -> None:
    _write_three_times(database)
    period = Period.parse("2007-12-30..2008-01-02")
    expected = {OCTOBER: [1, np.nan, 3, np.nan], NOVEMBER: [1, 2, 30, 4], DECEMBER: [1, 2, 31, 4]}
    with database.reading() as session:
        for at, values in expected.items():
            then = revisions.as_known_at(session, *KEY, at, period)
            assert then is not None
            np.testing.assert_array_equal(then.values, values)
        october = revisions.as_known_at(session, *KEY, OCTOBER, period)
        assert october is not None
        assert october.flags.tolist() == [0, Flag.MISSING, 0, Flag.ABSENT]
        assert revisions.as_known_at(session, *KEY, instant("2008-09-30"), period) is None
        assert revisions.as_known_at(session, BASIN, "usgs", "stage", DECEMBER) is None


def test_the_newest_day_of_a_product_is_that_of_its_newest_series(database: Database) -> None:
    with database.transaction() as session:
        assert revisions.newest_days(session) == {}
        source = a_source(session)
        for basin, start in ((a_basin(session), "2000-01-01"), (a_basin(session, "SYNTH-01"), "1999-01-01")):
            series_writer.write(session, basin, "daymet", "tmax", daily(start, 1.0, 2.0, unit="degC"), source, NOW)
        series_writer.write(session, BASIN, "usgs", "discharge", daily("1990-01-01", np.nan, unit="cfs"), source, NOW)
        assert revisions.newest_days(session) == {"daymet": day("2000-01-02"), "usgs": day("1990-01-01")}


def test_days_of_the_future_are_not_the_newest(database: Database) -> None:
    with database.transaction() as session:
        source, basin = a_source(session), a_basin(session)
        for start, count in (("2000-01-01", 2), ("2099-01-02", 1)):
            series_writer.write(
                session, basin, "daymet", "tmax", daily(start, *[1.0] * count, unit="degC"), source, NOW
            )
        series_writer.write(
            session, basin, "nldas", "tmax", daily("2000-02-28", 1.0, 1.0, 1.0, unit="degC"), source, NOW
        )
        series_writer.write(session, basin, "maurer", "tmax", daily("2099-01-02", 1.0, unit="degC"), source, NOW)
        assert revisions.newest_days(session, day("2000-02-29")) == {
            "daymet": day("2000-01-02"),
            "nldas": day("2000-02-29"),
        }
