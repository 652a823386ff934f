"""Caravan file sets, whole and broken, as CSV and as NetCDF."""

import subprocess
import sys
from datetime import date
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import netCDF4
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.caravan.source import CaravanSource
from extensions.caravan.timeseries import parse_csv, parse_netcdf
from hydrology.base.errors import NotFound
from hydrology.base.series import DailySeries, Flag
from ingestion.base import SourceError, SourceFile
from testing.files import caravan as write

FILE = SourceFile("f", "", 0)
OTHER_FILE = "attributes/camels/attributes_other_camels.csv"


def read_csv(content: bytes) -> dict[str, DailySeries]:
    return parse_csv(FILE, content)


def csv_fault(content: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse_csv(FILE, content)
    return caught.value


def netcdf_fault(content: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse_netcdf(FILE, content)
    return caught.value


def set_fault(where: Path, changed: dict[str, bytes]) -> SourceError:
    with pytest.raises(SourceError) as caught:
        CaravanSource([write.folder(where, write.files() | changed)]).read(write.BASIN)
    return caught.value


@pytest.mark.parametrize("kind", ["csv", "netcdf"])
def test_a_gauge_has_all_the_data_of_its_files(tmp_path: Path, kind: str) -> None:
    source = CaravanSource([write.folder(tmp_path, write.files(kind))])
    assert source.basins() == [write.BASIN]
    data = source.read(write.BASIN)
    assert (data.name, data.latitude, data.longitude, data.huc) == (
        "NARRAGUAGUS RIVER, CHERRYFIELD",
        44.60797,
        -67.93524,
        None,
    )
    assert data.areas == {"era5_land": 573.6e6}
    assert data.attributes == {"area": 573.6, "p_mean": 3.1, "ele_mt_sav": 92.7}
    assert data.texts == {"country": "United States of America"}
    assert {(one.product, one.variable, one.series.unit) for one in data.series} == {
        ("era5_land", "precipitation", "mm/day"),
        ("era5_land", "tmin", "degC"),
        ("era5_land", "tmean", "degC"),
        ("era5_land", "tmax", "degC"),
        ("era5_land", "srad", "W/m2"),
        ("era5_land", "swe", "mm"),
        ("era5_land", "surface_pressure_mean", "kPa"),
        ("era5_land", "volumetric_soil_water_layer_1_mean", "m3/m3"),
        ("era5_land", "potential_evaporation_sum", "mm/day"),
        ("caravan", "discharge", "mm/day"),
    }
    by_name = {one.variable: one.series for one in data.series}
    np.testing.assert_allclose(by_name["tmin"].values, write.COLUMNS["temperature_2m_min"], rtol=1e-6)
    assert str(by_name["tmin"].period) == "2000-02-27..2000-03-01"
    assert len(data.files) == 4


@pytest.mark.parametrize("kind", ["csv", "netcdf"])
def test_a_series_runs_from_its_first_to_its_last_value(tmp_path: Path, kind: str) -> None:
    data = CaravanSource([write.folder(tmp_path, write.files(kind))]).read(write.BASIN)
    (flow,) = (one.series for one in data.series if one.variable == "discharge")
    assert str(flow.period) == "2000-02-28..2000-03-01"
    np.testing.assert_allclose(flow.values, [0.5, np.nan, 0.7], rtol=1e-6)
    assert flow.flags.tolist() == [0, Flag.MISSING, 0]


@pytest.mark.parametrize("kind", ["csv", "netcdf"])
@pytest.mark.parametrize(("value", "flag"), [(-0.1, Flag.MISSING | Flag.SUSPECT), (-999.0, Flag.MISSING)])
def test_one_negative_flow_is_one_missing_day(tmp_path: Path, kind: str, value: float, flag: Flag) -> None:
    """Of Caravan issue 18: one value of -0.1 in forty years."""
    columns = write.COLUMNS | {"streamflow": [np.nan, 0.5, value, 0.7]}
    content = write.csv(columns) if kind == "csv" else write.netcdf(columns)
    data = CaravanSource([write.folder(tmp_path, write.files(kind, content))]).read(write.BASIN)
    (flow,) = (one.series for one in data.series if one.variable == "discharge")
    np.testing.assert_allclose(flow.values, [0.5, np.nan, 0.7], rtol=1e-6)
    assert flow.flags.tolist() == [0, flag, 0]


def test_a_code_in_place_of_flow_is_one_missing_day() -> None:
    content = b"date,streamflow\n2000-02-27,1\n2000-02-28,Whale\n2000-02-29,Ice\n2000-03-01,2\n"
    flow = parse_csv(FILE, content)["discharge"]
    assert flow.flags.tolist() == [0, Flag.MISSING | Flag.SUSPECT, Flag.MISSING, 0]


def test_a_zip_gives_what_a_folder_gives(tmp_path: Path) -> None:
    files = write.files("netcdf")  # written once: a file of HDF5 holds the second of its making
    with ZipFile(tmp_path / "Caravan.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(f"Caravan/{name}", content)
    packed = CaravanSource([tmp_path / "Caravan.zip"]).read(write.BASIN)
    plain = CaravanSource([write.folder(tmp_path / "Caravan", files)]).read(write.BASIN)
    assert {one.sha256 for one in packed.files} == {one.sha256 for one in plain.files}
    for one, other in zip(packed.series, plain.series, strict=True):
        np.testing.assert_array_equal(one.series.values, other.series.values)


def test_the_netcdf_is_read_where_both_are_there(tmp_path: Path) -> None:
    both = write.files("netcdf") | write.files("csv")
    data = CaravanSource([write.folder(tmp_path, both)]).read(write.BASIN)
    assert {one.file.name for one in data.series} == {str(tmp_path / f"timeseries/netcdf/camels/{write.GAUGE}.nc")}


def test_two_copies_must_be_the_same(tmp_path: Path) -> None:
    one, two = write.folder(tmp_path / "one", write.files()), write.folder(tmp_path / "two", write.files())
    assert CaravanSource([one, two]).read(write.BASIN).areas
    (two / f"timeseries/csv/camels/{write.GAUGE}.csv").write_bytes(write.csv(at=write.days(4, date(1999, 1, 1))))
    with pytest.raises(SourceError, match="differs from"):
        CaravanSource([one, two]).read(write.BASIN)


@pytest.mark.extended
@given(
    values=st.lists(
        st.tuples(st.integers(0, 200_000), st.one_of(st.none(), st.integers(0, 100_000))), min_size=1, max_size=6
    ),
    first=st.dates(date(1900, 1, 1), date(2100, 1, 1)),
)
def test_both_formats_give_what_was_written(values: list[tuple[int, int | None]], first: date) -> None:
    columns = {
        "total_precipitation_sum": [rain / 100 for rain, _ in values],
        "streamflow": [np.nan if flow is None else flow / 100 for _, flow in values],
    }
    from_csv = read_csv(write.csv(columns, write.days(len(values), first)))
    from_netcdf = parse_netcdf(FILE, write.netcdf(columns, counted=f"days since {first}"))
    assert from_csv["precipitation"].values.tolist() == columns["total_precipitation_sum"]
    assert str(from_csv["precipitation"].start) == str(first)
    assert ("discharge" in from_csv) == any(flow is not None for _, flow in values)
    assert from_csv.keys() == from_netcdf.keys()
    for name, one in from_csv.items():
        assert (one.start, one.unit, one.flags.tolist()) == (
            from_netcdf[name].start,
            from_netcdf[name].unit,
            from_netcdf[name].flags.tolist(),
        )
        np.testing.assert_array_equal(one.values.astype(np.float32), from_netcdf[name].values.astype(np.float32))


def test_a_jumped_day_is_absent() -> None:
    at = [date(1999, 12, 30), date(1999, 12, 31), date(2000, 1, 2), date(2000, 1, 3)]
    rain = read_csv(write.csv(at=at))["precipitation"]
    assert np.isnan(rain.values).tolist() == [False, False, True, False, False]
    assert rain.flags.tolist() == [0, 0, Flag.ABSENT, 0, 0]
    same = parse_netcdf(FILE, write.netcdf(offsets=[0, 1, 3, 4], counted="days since 1999-12-30"))["precipitation"]
    hours = parse_netcdf(FILE, write.netcdf(offsets=[0, 24, 72, 96], counted="hours since 1999-12-30"))["precipitation"]
    assert (hours.period, hours.values.tolist()) == (same.period, pytest.approx(same.values.tolist(), nan_ok=True))
    np.testing.assert_allclose(same.values, rain.values, rtol=1e-6)
    assert same.flags.tolist() == rain.flags.tolist()


@pytest.mark.parametrize(
    ("column", "value", "cause"),
    [
        ("total_precipitation_sum", -0.5, "total_precipitation_sum on 2000-02-28 is outside 0 to 2000 mm/day"),
        ("temperature_2m_min", 275.3, "temperature_2m_min on 2000-02-28 is outside -100 to 70 degC"),
        ("surface_pressure_mean", 99300.0, "outside 30 to 120 kPa"),
        ("streamflow", 12_000.0, "streamflow on 2000-02-28 is outside"),
        ("wind_speed", 1.0, "does not exist in Caravan"),
    ],
)
def test_impossible_values_and_unknown_columns_are_refused(column: str, value: float, cause: str) -> None:
    columns = {**write.COLUMNS, column: [0.1 if column == "streamflow" else 50, value, 50, 50]}
    in_csv, in_netcdf = csv_fault(write.csv(columns)), netcdf_fault(write.netcdf(columns))
    assert cause in in_csv.cause
    assert cause in in_netcdf.cause
    assert in_csv.line == (1 if column == "wind_speed" else 3)
    assert in_netcdf.line is None


@pytest.mark.parametrize(
    ("line", "text", "cause"),
    [
        (1, "day,streamflow", "date is missing"),
        (1, "date,streamflow,streamflow", "two have the same"),
        (3, "2000-02-28", "the row has 1 column instead of 2"),
        (3, '2000-02-28,"1,250"', "streamflow is not a number"),
        (3, "2000-02-30,1", "the date is not a calendar day"),
        (3, "28.02.2000,1", "the date is not a calendar day"),
        (3, "1700-02-28,1", "the day 1700-02-28 is outside"),
        (3, "2000-02-27,1", "the day 2000-02-27 comes twice, first in line 2"),
        (3, "2000-02-26,1", "the day 2000-02-26 comes after 2000-02-27: out of order"),
    ],
)
def test_a_broken_line_is_refused_by_number(line: int, text: str, cause: str) -> None:
    lines = ["date,streamflow", "2000-02-27,1", "2000-02-28,1"]
    lines[line - 1] = text
    error = csv_fault("\n".join(lines).encode())
    assert error.line == line
    assert cause in error.cause


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "the file is empty"),
        (b"date,streamflow\n", "there is no row"),
        (b"date,streamflow\n2000-01-01,\xff", "not UTF-8"),
    ],
)
def test_a_file_without_rows_or_text_is_refused(content: bytes, cause: str) -> None:
    assert cause in csv_fault(content).cause


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("[°C]", "[K]", "temperature_2m_max is not in degC, as Caravan has it"),
        ("[mm/d]", "[m3/s]", "streamflow is not in mm/day, as Caravan has it"),
        ("[kPa]", "[Pa]", "surface_pressure_mean is not in kPa, as Caravan has it"),
    ],
)
def test_a_unit_that_is_not_caravans_is_refused(old: str, new: str, cause: str) -> None:
    assert netcdf_fault(write.netcdf(units=write.UNITS.replace(old, new))).cause == cause


def test_a_missing_unit_means_caravans_unit() -> None:
    assert parse_netcdf(FILE, write.netcdf(units=None))["precipitation"].unit == "mm/day"


@pytest.mark.parametrize(
    ("offsets", "counted"),
    [
        (None, "hours since 2000-02-27"),
        (None, "days since 2000-02-27 12:00:00"),
        ([0, 0.5, 1, 2], "days since 2000-02-27"),
        ([0, np.nan, 1, 2], "days since 2000-02-27"),
        ([0, 24, 36, 48], "hours since 2000-02-27"),
        ([0, 1e18, 1, 2], "days since 2000-02-27"),
    ],
)
def test_dates_that_are_not_days_are_refused(offsets: list[float] | None, counted: str) -> None:
    assert "are not whole days" in netcdf_fault(write.netcdf(offsets=offsets, counted=counted)).cause


def test_days_counted_across_the_change_of_the_calendar_are_refused() -> None:
    """By the standard calendar, 2000-02-27 has two days more since year 1 than by the Gregorian one."""
    offsets = [730_176 + at for at in range(4)]
    since_year_1 = partial(write.netcdf, offsets=offsets, counted="days since 0001-01-01")
    assert parse_netcdf(FILE, since_year_1())["precipitation"].start == np.datetime64("2000-02-27")
    fault = netcdf_fault(since_year_1(calendar="standard"))
    assert "counted since 0001-01-01, before the calendar was changed" in fault.cause


@pytest.mark.parametrize(
    ("offsets", "cause"), [([0, 1, 1, 2], "comes twice"), ([0, 2, 1, 3], "out of order"), ([0, 1, 2, 9e5], "outside")]
)
def test_days_of_a_netcdf_are_in_order(offsets: list[float], cause: str) -> None:
    assert cause in netcdf_fault(write.netcdf(offsets=offsets)).cause


def test_a_damaged_netcdf_is_refused() -> None:
    whole = write.netcdf().rstrip(b"\0")
    for broken in (b"CDF?", whole[: len(whole) // 2], b"date,streamflow\n"):
        assert "is not NetCDF" in netcdf_fault(broken).cause


def test_a_netcdf_of_another_shape_is_refused() -> None:
    def netcdf_of(shape: tuple[str, ...], kind: str | type[str], date_length: int = 2) -> bytes:
        dataset = netCDF4.Dataset("invented", mode="w", memory=1024)
        dataset.createDimension("date", date_length)
        dataset.createDimension("other", 3)
        dataset.createVariable("date", "i8", ("date",)).units = "days since 2000-01-01"
        if date_length == 2:
            dataset.variables["date"][:] = [0, 1]
        dataset.createVariable("streamflow", kind, shape)
        return bytes(dataset.close())

    assert "streamflow is not a number a day" in netcdf_fault(netcdf_of(("other",), "f4")).cause
    assert "streamflow is not a number a day" in netcdf_fault(netcdf_of(("date", "other"), "f4")).cause
    assert "streamflow is not a number a day" in netcdf_fault(netcdf_of(("date",), str)).cause
    assert "are not whole days" in netcdf_fault(netcdf_of(("date",), "f4", date_length=10**12)).cause


@pytest.mark.parametrize(
    ("name", "old", "new", "cause"),
    [
        (OTHER_FILE, ",573.6", ",", f"the gauge {write.GAUGE} has no attribute area"),
        (OTHER_FILE, write.GAUGE, "camels_1", "has no attribute gauge_lat, gauge_lon, area"),
        (OTHER_FILE, ",573.6", ",-3", "area is outside"),
        (OTHER_FILE, "44.60797", "144.6", "gauge_lat is outside -90 to 90"),
        (OTHER_FILE, "44.60797", "north", "gauge_lat is not a number"),
        (OTHER_FILE, "camels_2", write.GAUGE, "comes twice"),
        (OTHER_FILE, "gauge_id", "id", "gauge_id is missing"),
        (OTHER_FILE, '"NARRAGUAGUS', "NARRAGUAGUS", "the row has 7 columns instead of 6"),
        (
            "attributes/camels/attributes_caravan_camels.csv",
            "p_mean",
            "area",
            "area of camels_01022500 has another value",
        ),
    ],
)
def test_attributes_that_cannot_be_used_are_refused(tmp_path: Path, name: str, old: str, new: str, cause: str) -> None:
    broken = write.files()[name].decode().replace(old, new)
    assert cause in set_fault(tmp_path, {name: broken.encode()}).cause


def test_a_set_without_attributes_reports_what_is_missing(tmp_path: Path) -> None:
    only = {name: content for name, content in write.files().items() if name.startswith("timeseries")}
    with pytest.raises(SourceError, match="no attribute gauge_lat, gauge_lon, area; give the file attributes_other"):
        CaravanSource([write.folder(tmp_path, only)]).read(write.BASIN)


def test_a_folder_that_is_not_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no time series is in it"):
        CaravanSource([write.folder(tmp_path, {"other/x.csv": b"a"})])
    with pytest.raises(SourceError, match="is not a gauge"):
        CaravanSource([write.folder(tmp_path / "b", {"timeseries/csv/a/a b.csv": b"a"})])
    with pytest.raises(NotFound, match="CARAVAN-x_1"):
        CaravanSource([write.folder(tmp_path / "c", write.files())]).read("CARAVAN-x_1")


def test_one_broken_gauge_leaves_the_others_readable(tmp_path: Path) -> None:
    more = {"timeseries/csv/camels/camels_2.csv": b"date,rain\n"}
    source = CaravanSource([write.folder(tmp_path, write.files() | more)])
    assert source.basins() == [write.BASIN, "CARAVAN-camels_2"]
    with pytest.raises(SourceError, match="column 2 does not exist in Caravan"):
        source.read("CARAVAN-camels_2")
    assert source.read(write.BASIN).series


def test_the_netcdf_package_is_loaded_only_to_read_netcdf() -> None:
    code = "import sys, extensions.caravan.source, ingestion.sources.tables; print('netCDF4' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
