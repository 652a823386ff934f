"""Discharge files, whole and broken."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries, Flag
from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels_text import TextFile, parse_streamflow
from testing.files import camels as write

FLAGS = {
    "A": Flag.APPROVED,
    "A:e": Flag.APPROVED | Flag.ESTIMATED,
    "A:<": Flag.APPROVED | Flag.BELOW_LIMIT,
    "M": Flag.MISSING,
}


def parse(content: str, basin: str = write.BASIN) -> DailySeries:
    return parse_streamflow(TextFile.decode(SourceFile("q.txt", "", 0), content.encode()), basin)


def test_flags_describe_a_value() -> None:
    series = parse(write.streamflow())
    assert series.unit == "cfs"
    assert series.flags.tolist() == list(FLAGS.values())
    assert series.values[:3].tolist() == [395, 350, 0]
    assert np.isnan(series.values[3])


def test_a_jumped_day_is_absent() -> None:
    series = parse(write.streamflow([(1, "A"), (2, "A")], [date(2000, 2, 28), date(2000, 3, 1)]))
    assert series.flags.tolist() == [Flag.APPROVED, Flag.ABSENT, Flag.APPROVED]
    assert np.isnan(series.values[1])


def test_a_namespaced_gauge() -> None:
    assert len(parse(write.streamflow(gauge="SYNTH-01"), "SYNTH-01")) == 4


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ("01031500 2000 02 28 350.00 A", "the row is of another gauge, in the file of 01022500"),
        ("010225000 2000 02 28 350.00 A", "the row is of another gauge"),
        ("01022500 2000 02 28 1,250 A", "the flow is not a number"),
        ("01022500 2000 02 28 1_000 A", "the flow is not a number"),
        (f"01022500 2000 02 28 {'1' * 40} A", "the flow is not a number"),
        ("01022500 2000 02 28 350.00", "the row is cut: it has 5 columns instead of 6"),
        ("01022500 2000 02 31 350.00 A", "the date is not a calendar day"),
        ("01022500 2000 02 27 350.00 A", "the day 2000-02-27 comes twice"),
        ("01022500 1999 02 27 350.00 A", "out of order"),
    ],
)
def test_a_broken_row_is_refused_by_number(row: str, cause: str) -> None:
    lines = write.streamflow().split("\n")
    lines[1] = row
    with pytest.raises(SourceError) as caught:
        parse("\n".join(lines))
    assert caught.value.line == 2
    assert cause in caught.value.cause


@pytest.mark.parametrize(
    ("row", "value", "flags"),
    [
        ("350.00 P", 350, 0),
        ("350.00 A:ex", 350, Flag.APPROVED | Flag.SUSPECT),
        ("350.00 M", np.nan, Flag.MISSING | Flag.SUSPECT),
        ("-999.00 A", np.nan, Flag.APPROVED | Flag.MISSING),
        ("-999999 M", np.nan, Flag.MISSING),
        ("-3.00 A", np.nan, Flag.APPROVED | Flag.MISSING | Flag.SUSPECT),
        ("nan A", np.nan, Flag.APPROVED | Flag.MISSING),
        ("inf A", np.nan, Flag.APPROVED | Flag.MISSING | Flag.SUSPECT),
        ("Ice A", np.nan, Flag.APPROVED | Flag.MISSING),
        ("Whale A", np.nan, Flag.APPROVED | Flag.MISSING | Flag.SUSPECT),
    ],
)
def test_an_invalid_value_is_one_missing_day_and_the_gauge_goes_on(row: str, value: float, flags: int) -> None:
    lines = write.streamflow().split("\n")
    before = parse("\n".join(lines))
    lines[1] = f"01022500 2000 02 28 {row}"
    series = parse("\n".join(lines))
    np.testing.assert_array_equal(series.values[1], value)
    assert series.flags[1] == flags
    np.testing.assert_array_equal(series.values[[0, 2, 3]], before.values[[0, 2, 3]])


@given(
    rows=st.lists(
        st.one_of(
            st.tuples(st.integers(0, 10**8).map(lambda n: n / 100), st.sampled_from(["A", "A:e", "A:<"])),
            st.just((-999.0, "M")),
        ),
        min_size=1,
        max_size=8,
    ),
    gaps=st.lists(st.integers(1, 40), min_size=8, max_size=8),
)
def test_written_data_are_read_back(rows: list[tuple[float, str]], gaps: list[int]) -> None:
    at = [np.datetime64("1999-12-01", "D") + sum(gaps[:n]) for n in range(len(rows))]
    series = parse(write.streamflow(rows, [day.astype(object) for day in at]))
    expected = {day: (np.nan if flag == "M" else flow, FLAGS[flag]) for day, (flow, flag) in zip(at, rows, strict=True)}
    for day, value, flags in zip(series.days, series.values, series.flags, strict=True):
        flow, flag = expected.get(day, (np.nan, Flag.ABSENT))
        assert flags == flag
        assert value == flow or (np.isnan(value) and np.isnan(flow))
    assert series.period == Period(at[0], at[-1])


def test_the_plain_files(camels: Path) -> None:
    paths = sorted((camels / "basin_dataset_public_v1p2/usgs_streamflow").glob("*/*.txt"))
    assert len(paths) == 8
    train, test = Period.parse("1999-10-01..2008-09-30"), Period.parse("1989-10-01..1999-09-30")
    for path in paths:
        series = parse(path.read_text(), f"USGS-{path.name[:8]}")
        assert not np.isnan(series.over(train).values).any()
        assert not np.isnan(series.over(test).values).any()
        missing = np.isnan(series.values)
        assert (series.flags[missing] == Flag.MISSING).all()
        assert missing.sum() == path.read_text().count("-999.00 M")


def test_a_known_record(camels: Path) -> None:
    path = camels / f"basin_dataset_public_v1p2/usgs_streamflow/01/{write.GAUGE}_streamflow_qc.txt"
    series = parse(path.read_text())
    assert str(series.period) == "1980-01-01..2014-12-31"
    assert len(series) == 12784
    assert series.values[:3].tolist() == [395, 350, 310]
    assert np.isnan(series.values).sum() == 92
