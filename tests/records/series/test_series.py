"""Series are merged by the day: nothing known is lost, nothing repeated is written."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, day
from hydrology.base.series import DailySeries, Flag
from records.basins.basins import UnknownBasin
from records.database.engine import Database
from records.series import revisions, series, series_writer
from records.series.series_writer import NewSeries, UnitConflict, UnusableValues, Written
from testing.databases import counted_statements
from testing.records import BASIN, NOW, a_basin, a_source, contents, daily, instant, row_counts

KEY = (BASIN, "maurer_extended", "precipitation")
KINDS = [(0.0, 0), (-0.0, 0), (1.5, 0), (1.5, Flag.FILLED), (np.nan, Flag.MISSING), (np.nan, Flag.ABSENT)]
# Around the leap day and the year ends of 1999 to 2001, up to two years long.
WRITES = st.lists(
    st.tuples(
        st.integers(0, 800).map(lambda days: day("1999-11-15") + days),
        st.integers(1, 700).flatmap(lambda n: arrays(np.int8, n, elements=st.integers(0, len(KINDS) - 1))),
    ),
    min_size=1,
    max_size=4,
)


def _series(start: Day, kinds: npt.NDArray[np.int8]) -> DailySeries:
    values = np.array([value for value, _ in KINDS], dtype=np.float32)[kinds]
    flags = np.array([flag for _, flag in KINDS], dtype=np.uint8)[kinds]
    return DailySeries(start, values, flags, "mm/day")


def _known(part: DailySeries | None) -> dict[Day, tuple[bytes, int]]:
    """Return value and flag of each known day of a series, to the bit."""
    if part is None:
        return {}
    output = zip(part.days, part.values.astype("<f4"), part.flags, strict=True)
    return {at: (value.tobytes(), int(flag)) for at, value, flag in output if not flag & Flag.ABSENT}


def _value(known: tuple[bytes, int]) -> float:
    return float(np.frombuffer(known[0], "<f4")[0])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=WRITES)
def test_written_data_are_read_back_and_earlier_values_are_remembered(
    database: Database, writes: list[tuple[Day, npt.NDArray[np.int8]]]
) -> None:
    model: dict[Day, tuple[bytes, int]] = {}
    remembered = []
    with database.transaction() as session:
        a_basin(session)
        source = a_source(session)
        for hour, (start, kinds) in enumerate(writes):
            given_series, at = _series(start, kinds), instant(f"2008-10-01T{hour:02}:00")
            output = _known(given_series)
            new = [at for at in output if at not in model]
            changed = [at for at in output if at in model and model[at] != output[at]]
            expected = Written(len(new), len(changed), min(new, default=None), min(changed, default=None))
            assert series_writer.write(session, *KEY, given_series, source, at) == expected
            model |= output
            remembered.append((at, dict(model)))
            assert _known(series.read(session, *KEY)) == model
        for at, then in remembered:
            assert _known(revisions.as_known_at(session, *KEY, at)) == then
        assert revisions.as_known_at(session, *KEY, instant("2008-09-30T23:59")) is None
        if model:
            whole = Period(min(model), max(model))
            assert series.extent(session, [BASIN], KEY[1], [KEY[2]]) == {(BASIN, KEY[2]): whole}
            many = series.read_many(session, [BASIN], KEY[1], [KEY[2]], whole)[0, :, 0]
            expected_values = [_value(model[at]) if at in model else np.nan for at in whole.days]
            np.testing.assert_array_equal(many, expected_values)
            ((_, found),) = series.unknown_days(session, [BASIN], KEY[1])
            years, unknown = found[KEY[2]]
            assert [*unknown] == [at for at in years.days if at not in model or np.isnan(_value(model[at]))]
            assert str(years) == f"{str(whole.first)[:4]}-01-01..{str(whole.last)[:4]}-12-31"
        session.rollback()


def _written(session: Session, *given_series: DailySeries, key: tuple[str, str, str] = KEY) -> None:
    a_basin(session, key[0])
    source = a_source(session)
    for part in given_series:
        series_writer.write(session, *key, part, source, NOW)


def test_the_same_again_writes_nothing(database: Database) -> None:
    part = daily("1999-12-30", 1.0, np.nan, 3.0)
    with database.transaction() as session:
        _written(session, part)
        before = contents(session)
        again = series_writer.write(session, *KEY, part, a_source(session), instant("2020-01-01"))
        assert again == Written()
        assert contents(session) == before


def test_a_year_of_days_is_one_row_and_other_years_are_left_alone(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("1999-01-01", *range(366 + 365)))
        assert row_counts(session)["series"] == 2
        later = instant("2020-01-01")
        series_writer.write(session, *KEY, daily("2000-02-29", -1.0), a_source(session), later)
        rows = {row[3]: row for row in contents(session)["series"]}
    assert [(rows[year][8], rows[year][9]) for year in (1999, 2000)] == [(1, NOW), (2, later)]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=WRITES)
def test_variables_written_together_are_what_each_alone_would_be(
    database: Database, writes: list[tuple[Day, npt.NDArray[np.int8]]]
) -> None:
    many = {f"v{number}": _series(start, kinds) for number, (start, kinds) in enumerate(writes)}
    moved = {name: replace(one, start=one.start + 1) for name, one in many.items()}  # so that most days are replaced
    with database.transaction() as session:
        a_basin(session)
        source = a_source(session)
        for at, given_series in ((NOW, many), (instant("2020-01-01"), moved)):
            alone = [
                series_writer.write(session, BASIN, "alone", name, one, source, at)
                for name, one in given_series.items()
            ]
            together = [NewSeries(BASIN, "together", *one, source) for one in given_series.items()]
            assert series_writer.write_all(session, together, at) == alone
        for name in many:
            for at in (NOW, instant("2020-01-01")):
                versions = [revisions.as_known_at(session, BASIN, of, name, at) for of in ("alone", "together")]
                assert _known(versions[0]) == _known(versions[1])
        session.rollback()


def test_many_series_are_written_by_as_many_statements_as_one(database: Database) -> None:
    counts = []
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-02")
        source = a_source(session)
        for basins, variables in (([BASIN], ["v0"]), ([BASIN, "SYNTH-02"], ["v1", "v2", "v3"])):
            keys = [(basin, KEY[1], name) for basin in basins for name in variables]
            series_writer.write_all(session, [NewSeries(*key, daily("2000-01-01", 1.0), source) for key in keys], NOW)
            with counted_statements() as statements:
                again = [NewSeries(*key, daily("2000-01-01", 2.0, 3.0), source) for key in keys]
                series_writer.write_all(session, again, NOW)
            counts.append(len(statements))
    assert counts[0] == counts[1]


def test_series_written_together_are_each_of_another_key(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        twice = [NewSeries(*KEY, daily("2000-01-01", value), a_source(session)) for value in (1.0, 2.0)]
        with pytest.raises(ValueError, match="of another basin, product or variable"):
            series_writer.write_all(session, twice, NOW)


def test_two_writers_of_the_same_year_both_leave_their_days(database: Database) -> None:
    def write(start: str) -> None:
        with database.transaction() as session:
            series_writer.write(session, *KEY, daily(start, 1.0), source, NOW)

    with database.transaction() as session:
        a_basin(session)
        source = a_source(session)
    with ThreadPoolExecutor() as others:
        with database.transaction() as session:
            series_writer.write(session, *KEY, daily("2000-01-01", 1.0), source, NOW)
            waiting = [others.submit(write, f"2000-01-{at:02}") for at in range(2, 6)]
        for other in waiting:
            other.result(timeout=30)
    with database.reading() as session:
        stored = series.read(session, *KEY)
    assert stored is not None
    np.testing.assert_array_equal(stored.values, np.ones(5))


def test_absent_days_never_hide_known_ones(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("2000-02-28", 1.0, 2.0, 3.0))
        absent = DailySeries(day("2000-02-29"), np.array([np.nan]), np.array([Flag.ABSENT], np.uint8), "mm/day")
        assert series_writer.write(session, *KEY, absent, a_source(session), NOW) == Written()
        stored = series.read(session, *KEY)
    assert stored is not None
    np.testing.assert_array_equal(stored.values, [1.0, 2.0, 3.0])


def test_a_flag_alone_is_a_change(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("2000-01-01", 1.0))
        approved = daily("2000-01-01", 1.0, flag=Flag.APPROVED)
        assert series_writer.write(session, *KEY, approved, a_source(session), NOW).changed_days == 1


def test_another_unit_is_refused(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("2000-01-01", 1.0))
        with pytest.raises(UnitConflict, match="stored in mm/day, the new values are in inch/day"):
            series_writer.write(session, *KEY, daily("2000-01-02", 1.0, unit="inch/day"), a_source(session), NOW)


@pytest.mark.parametrize(("value", "output"), [(np.nan, "no flag"), (np.inf, "too large"), (1e39, "too large")])
def test_an_unusable_value_is_refused(database: Database, value: float, output: str) -> None:
    faulty = DailySeries(day("2000-01-01"), np.array([1.0, value]), np.zeros(2, np.uint8), "mm/day")
    with database.transaction() as session:
        a_basin(session)
        with pytest.raises(UnusableValues, match=f"{output}.* on 2000-01-02"):
            series_writer.write(session, *KEY, faulty, a_source(session), NOW)
        assert "series" not in row_counts(session)


def test_an_unknown_basin_is_refused(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(UnknownBasin):
            series_writer.write(session, *KEY, daily("2000-01-01", 1.0), 1, NOW)
        with pytest.raises(UnknownBasin):
            series.read_many(session, [BASIN], KEY[1], [KEY[2]], Period.parse("2000-01-01..2000-01-02"))
        with pytest.raises(UnknownBasin):
            series.catalogue(session, BASIN)


def test_a_period_is_read_to_the_day(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("1999-12-31", 1.0, 2.0))
        part = series.read(session, *KEY, Period.parse("1999-12-30..2000-01-01"))
        assert part is not None
        np.testing.assert_array_equal(part.values, [np.nan, 1.0, 2.0])
        assert part.flags.tolist() == [Flag.ABSENT, 0, 0]
        assert series.read(session, *KEY, Period.parse("2000-01-02..2000-01-03")) is None
        assert series.read(session, *KEY, Period.parse("2005-01-02..2005-01-03")) is None
        assert series.read(session, BASIN, "daymet", "precipitation") is None


def test_many_series_are_read_at_once(database: Database) -> None:
    period = Period.parse("1999-12-30..2000-01-02")
    with database.transaction() as session:
        _written(session, daily("1999-12-31", 1.0, 2.0, 3.0, 4.0))
        _written(session, daily("2000-01-01", 5.0), key=(BASIN, KEY[1], "tmax"))
        _written(session, daily("1999-01-01", *range(400)), key=("SYNTH-01", KEY[1], "tmax"))
        _written(session, daily("2000-01-01", 9.0), key=("SYNTH-01", "daymet", "tmax"))
        values = series.read_many(session, ["SYNTH-01", BASIN], KEY[1], ["tmax", "precipitation"], period)
    nan = np.nan
    assert values.dtype == np.float32
    np.testing.assert_array_equal(
        values,
        [[[363, nan], [364, nan], [365, nan], [366, nan]], [[nan, nan], [nan, 1], [5, 2], [nan, 3]]],
    )


def test_the_catalogue_names_each_series_and_its_days(database: Database) -> None:
    with database.transaction() as session:
        _written(session, daily("1999-12-31", 1.0, 2.0))
        _written(session, daily("2003-05-05", 1.0, unit="cfs"), key=(BASIN, "usgs", "discharge"))
        _written(session, daily("2003-05-05", 1.0), key=("SYNTH-01", "synthetic", "tmax"))
        entries = series.catalogue(session, BASIN)
        assert [(entry.product, entry.variable, entry.unit, str(entry.period)) for entry in entries] == [
            ("maurer_extended", "precipitation", "mm/day", "1999-12-31..2000-01-01"),
            ("usgs", "discharge", "cfs", "2003-05-05..2003-05-05"),
        ]
        assert {entry.updated_at for entry in entries} == {NOW}
        assert series.products(session) == ["maurer_extended", "synthetic", "usgs"]


def test_the_newest_day_is_known_though_older_years_are_whole(database: Database) -> None:
    pairs: list[tuple[str, Any]] = [("tmax", 1), ("tmin", 5)]
    with database.transaction() as session:
        for variable, extra in pairs:
            _written(session, daily("1999-03-01", *np.ones(306 + extra)), key=(BASIN, KEY[1], variable))
        found = series.extent(session, [BASIN, "SYNTH-01"], KEY[1], ["tmax", "tmin", "vp"])
    assert {variable: str(period) for (_, variable), period in found.items()} == {
        "tmax": "1999-03-01..2000-01-01",
        "tmin": "1999-03-01..2000-01-05",
    }


def test_stamps_of_many_basins_are_those_of_each(database: Database) -> None:
    with database.transaction() as session:
        for number, basin in enumerate((BASIN, "USGS-01022500"), 1):
            a_basin(session, basin)
            for value in range(number):
                series_writer.write(
                    session, basin, "p", "precipitation", daily("2000-01-01", value), a_source(session), NOW
                )
        basins = [BASIN, "USGS-01022500", "USGS-99999999"]
        stamps = series.stamps(session, basins, "p")
        assert stamps == {basin: series.stamp(session, basin, "p") for basin in basins[:2]}
