"""Forcing files of four products, whole and broken."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries, Flag
from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels_text import TextFile, parse_forcing
from testing.files import camels as write


def parse(content: str, latitude: float | None = None) -> tuple[float, dict[str, DailySeries]]:
    return parse_forcing(TextFile.decode(SourceFile("f.txt", "", 0), content.encode()), latitude)


def fault(content: str, latitude: float | None = None) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse(content, latitude)
    return caught.value


@pytest.mark.parametrize("product", write.HEADINGS)
def test_every_product_gives_the_same_days_values_and_units(product: str) -> None:
    area, forcing = parse(write.forcing(product))
    units = {name: series.unit for name, series in forcing.items()}
    assert area == write.AREA
    assert units == {
        "daylength": "s",
        "precipitation": "mm/day",
        "srad": "W/m2",
        "swe": "mm",
        "tmax": "degC",
        "tmin": "degC",
        "vp": "Pa",
    }
    by_column = zip(*write.WEATHER, strict=True)
    names = ("daylength", "precipitation", "srad", "swe", "tmax", "tmin", "vp")
    for name, values in zip(names, by_column, strict=True):
        series = forcing[name]
        assert str(series.period) == "2000-02-27..2000-03-01"  # over a leap day
        assert series.values.tolist() == list(values)
        assert not series.flags.any()


def test_a_jumped_day_is_absent() -> None:
    at = [date(1999, 12, 30), date(1999, 12, 31), date(2000, 1, 2), date(2000, 1, 3)]
    rain = parse(write.forcing(at=at))[1]["precipitation"]
    assert rain.period == Period.parse("1999-12-30..2000-01-03")
    assert np.isnan(rain.values).tolist() == [False, False, True, False, False]
    assert rain.flags.tolist() == [0, 0, Flag.ABSENT, 0, 0]
    assert rain.values[3] == write.WEATHER[2][1]


@pytest.mark.parametrize("stored", ["Year Mnth Day Hr", "Year Mnth Day Hr\tDayl(s)\tPRCP(mm/"])
def test_an_incomplete_line_of_names_is_accepted(stored: str) -> None:
    whole = write.forcing("maurer")
    assert parse(whole.replace(write.HEADINGS["maurer"], stored))[1].keys() == parse(whole)[1].keys()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tmax(C)\ttmin(C)", "tmin(C)\ttmax(C)"),
        ("prcp(mm/day)", "prcp(inch/day)"),
        ("vp(Pa)", "vp(Pa)\twind(m/s)"),
        (write.HEADINGS["maurer_extended"], ""),
    ],
)
def test_wrong_columns_are_refused(old: str, new: str) -> None:
    error = fault(write.forcing().replace(old, new))
    assert error.line == 4
    assert "the columns are" in error.cause


@pytest.mark.parametrize(
    ("line", "text", "cause"),
    [
        (1, "north", "the latitude is not a number"),
        (2, "nan", "the elevation is not a number"),
        (3, "587,675,987", "the area is not a number"),
        (3, "0", "the area is not above zero"),
        (5, "2000\t2\t27\t12\t31185.94\t0.0\t233.66\t0.0\t-1.04", "the row is cut: it has 9 columns"),
        (6, "2000\t2\t28\t12\tlong\t0.0\t233.66\t0.0\t-1.04\t-11.11\t250", "column 5 cannot be read as dayl(s)"),
        (
            6,
            "2000\t2\t28\t12\t31185\t-0.5\t233.66\t0.0\t-1.04\t-11.11\t250",
            "prcp(mm/day) on 2000-02-28 is outside 0 to",
        ),
        (
            6,
            "2000\t2\t28\t12\t31185\t-999\t233.66\t0.0\t-1.04\t-11.11\t250",
            "prcp(mm/day) on 2000-02-28 is outside 0 to",
        ),
        (6, "2000\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-999\t-11.11\t250", "is outside -100 to 70 degC (-999)"),
        (6, "2000\t2\t28\t12\t31185\t0.5\tnan\t0.0\t-1.04\t-11.11\t250", "srad(W/m2) on 2000-02-28 is outside"),
        (6, "2000\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\tinf", "vp(Pa) on 2000-02-28 is outside"),
        (6, "2000\t2\t30\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\t250", "the date is not a calendar day"),
        (6, "inf\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\t250", "the date is not a calendar day"),
        (6, "20000\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11\t250", "the date is not a calendar day"),
        (6, "2000\t2.5\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11\t250", "the date is not a calendar day"),
        (6, "2000\t2\t28.5\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11\t250", "the date is not a calendar day"),
        (6, "2000\t2\t27\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\t250", "the day 2000-02-27 comes twice"),
        (8, "2000\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\t250", "comes twice, first in line 6"),
        (8, "1999\t2\t28\t12\t31185\t0.5\t233.66\t0.0\t-1.04\t-11.11\t250", "out of order"),
    ],
)
def test_a_broken_line_is_refused_by_number(line: int, text: str, cause: str) -> None:
    lines = write.forcing().split("\n")
    lines[line - 1] = text
    error = fault("\n".join(lines))
    assert error.line == line
    assert cause in error.cause


@pytest.mark.parametrize("lines", [2, 3])
def test_a_file_cut_within_its_header_is_refused(lines: int) -> None:
    assert "ends within its four header lines" in fault("\n".join(write.forcing().split("\n")[:lines])).cause


def test_a_file_cut_within_a_row_is_refused() -> None:
    whole = write.forcing()
    error = fault(whole[: whole.rindex("\t")])
    assert error.line == 8
    assert "the row is cut" in error.cause


def test_a_file_of_another_latitude_is_another_basins() -> None:
    assert parse(write.forcing(), latitude=44.60797)[0] == write.AREA
    error = fault(write.forcing(), latitude=39.0)
    assert error.line == 1
    assert "not that of the gauge" in error.cause


_HUNDREDTHS = [(0, 86400), (0, 2000), (0, 1500), (1, 20000), (-90, 70), (-90, 70), (0, 10000)]


@given(
    rows=st.lists(
        st.tuples(*(st.integers(low * 100, high * 100).map(lambda n: n / 100) for low, high in _HUNDREDTHS)),
        min_size=1,
        max_size=6,
    ),
    first=st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    product=st.sampled_from(sorted(write.HEADINGS)),
)
def test_written_data_are_read_back(rows: list[tuple[float, ...]], first: date, product: str) -> None:
    series = parse(write.forcing(product, rows, write.days(len(rows), first)))[1]
    values = np.column_stack([one.values for one in series.values()])
    assert values.tolist() == [list(row) for row in rows]
    assert all(one.start == np.datetime64(first) for one in series.values())


@pytest.mark.parametrize(("product", "kind"), [("maurer", "maurer"), ("nldas", "nldas"), ("daymet", "cida")])
def test_the_original_formats(camels: Path, product: str, kind: str) -> None:
    paths = sorted((camels / f"original_formats/{product}_3yr_extract").glob(f"*/*_lump_{kind}_*"))
    assert len(paths) == 4
    for path in paths:
        series = parse(path.read_text())[1]
        assert not np.isnan(series["tmax"].over(Period.parse("2000-01-01..2002-12-31")).values).any()
        assert not series["swe"].values.any()
        same = series["tmax"].values == series["tmin"].values
        # Original Maurer and NLDAS carry the daily mean twice.
        assert same.all() if product != "daymet" else same.mean() < 0.01


def test_the_extended_set_differs_from_the_original_in_temperature_alone(camels: Path) -> None:
    name = f"01/{write.GAUGE}_lump_maurer_forcing_leap.txt"
    original = parse((camels / "original_formats/maurer_3yr_extract" / name).read_text())[1]
    folder = camels / "basin_dataset_public_v1p2/basin_mean_forcing/maurer_extended"
    extended = parse((folder / name).read_text())[1]
    assert len(extended["tmax"]) == 10593
    assert (extended["tmax"].values > extended["tmin"].values).mean() > 0.99
    period = original["precipitation"].period
    assert np.array_equal(extended["precipitation"].over(period).values, original["precipitation"].values)
