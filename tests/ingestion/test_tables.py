"""Own basins from CSV and JSON, whole and broken."""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.caravan.variables import PRODUCT as CARAVAN_PRODUCT
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import ARCHIVED
from hydrology.base.series import Flag
from ingestion.base import BasinData, SourceError
from ingestion.sources.camels import PRODUCTS
from ingestion.sources.tables import TablesSource

BASINS = "id,name,huc,latitude,longitude,area_km2,elev_mean\nOWN-mill,Mill brook,0101,47.1,8.5,12.5,610\n"
OBSERVATIONS = (
    "basin,date,precipitation_mm_per_day,tmax_degC,discharge_m3_per_s\n"
    "OWN-mill,2000-02-27,1.5,4,\n"
    "OWN-mill,2000-02-28,0,,0.2\n"
    "OWN-mill,2000-03-01,3,5,0.3\n"
)


def source(
    where: Path,
    basins: str | bytes | None = BASINS,
    observations: str | bytes | None = OBSERVATIONS,
    suffix: str = "csv",
    registered: Sequence[str] = (),
) -> TablesSource:
    """Write the tables and open them."""
    where.mkdir(exist_ok=True)
    paths = []
    for name, content in (("basins", basins), ("observations", observations)):
        path = where / f"{name}.{suffix}"
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(None if content is None else path)
    return TablesSource(paths[0], paths[1], "gauges", registered)


def fault(where: Path, **tables: str | bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        source(where, **tables)  # type: ignore[arg-type]
    return caught.value


def values_of(data: BasinData) -> dict[tuple[str, str, str], list[float]]:
    return {(one.product, one.variable, one.series.unit): one.series.values.tolist() for one in data.series}


@pytest.mark.parametrize(
    ("written", "flag"),
    [
        ("-0.1", Flag.MISSING | Flag.SUSPECT),
        ("Whale", Flag.MISSING | Flag.SUSPECT),
        ("Ice", Flag.MISSING),
        ("-999", Flag.MISSING),
        ("-9999.0", Flag.MISSING),
        ("NaN", Flag.MISSING),
    ],
)
def test_an_invalid_value_of_discharge_is_one_missing_day(tmp_path: Path, written: str, flag: Flag) -> None:
    rows = [("2000-02-27", "0.1"), ("2000-02-28", written), ("2000-02-29", "0.3")]
    table = "basin,date,discharge_m3_per_s\n" + "".join(f"OWN-mill,{at},{value}\n" for at, value in rows)
    (flow,) = source(tmp_path, observations=table).read("OWN-mill").series
    np.testing.assert_allclose(flow.series.values, [0.1, np.nan, 0.3])
    assert flow.series.flags.tolist() == [0, flag, 0]


def test_digits_that_are_not_a_number_are_refused_by_line(tmp_path: Path) -> None:
    table = 'basin,date,discharge_m3_per_s\nOWN-mill,2000-02-27,1\nOWN-mill,2000-02-28,"1,250"\n'
    error = fault(tmp_path, observations=table)
    assert (error.line, error.cause) == (3, "discharge_m3_per_s is not a number (1,250)")


def test_a_basin_has_all_the_data_of_its_tables(tmp_path: Path) -> None:
    tables = source(tmp_path)
    assert tables.basins() == ["OWN-mill"]
    data = tables.read("OWN-mill")
    assert (data.name, data.latitude, data.longitude, data.huc) == ("Mill brook", 47.1, 8.5, "0101")
    assert data.areas == {"gauges": 12.5e6}
    assert data.attributes == {"area_km2": 12.5, "elev_mean": 610}
    by_name = {one.variable: one for one in data.series}
    np.testing.assert_equal(
        values_of(data),
        {
            ("gauges", "precipitation", "mm/day"): [1.5, 0, np.nan, 3],
            ("gauges", "tmax", "degC"): [4, np.nan, np.nan, 5],
            ("own", "discharge", "m3/s"): [0.2, np.nan, 0.3],
        },
    )
    assert by_name["tmax"].series.flags.tolist() == [0, Flag.MISSING, Flag.ABSENT, 0]
    assert str(by_name["discharge"].series.start) == "2000-02-28"
    assert [Path(file.name).name for file in data.files] == ["basins.csv", "observations.csv"]
    with pytest.raises(NotFound, match="OWN-x"):
        tables.read("OWN-x")


def test_json_gives_what_csv_gives(tmp_path: Path) -> None:
    def as_json(text: str, words: tuple[str, ...]) -> str:
        names, *rows = (line.split(",") for line in text.splitlines())
        return json.dumps(
            [
                {name: cell if name in words else float(cell) for name, cell in zip(names, row, strict=True) if cell}
                for row in rows
            ]
        )

    basins, observations = as_json(BASINS, ("id", "name", "huc")), as_json(OBSERVATIONS, ("basin", "date"))
    from_json = source(tmp_path, basins, observations, "json").read("OWN-mill")
    from_csv = source(tmp_path).read("OWN-mill")
    np.testing.assert_equal(values_of(from_json), values_of(from_csv))
    assert (from_json.areas, from_json.attributes, from_json.name) == (
        from_csv.areas,
        from_csv.attributes,
        from_csv.name,
    )


def test_basins_are_registered_before_there_are_observations(tmp_path: Path) -> None:
    tables = source(tmp_path, observations=None)
    assert tables.basins() == ["OWN-mill"]
    assert tables.read("OWN-mill").series == ()


def test_observations_of_a_basin_that_is_registered_already(tmp_path: Path) -> None:
    data = source(tmp_path, basins=None, registered=["OWN-mill", "OWN-other"]).read("OWN-mill")
    assert (data.latitude, data.areas, len(data.series)) == (None, {}, 3)


@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.one_of(st.none(), st.integers(0, 200_000))), min_size=1, max_size=8),
    first=st.dates(date(1900, 1, 1), date(2100, 1, 1)),
)
def test_written_data_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int | None]], first: date
) -> None:
    lines, expected, at = ["basin,date,precipitation_mm_per_day,swe_mm"], dict[date, float](), first
    for step, value in rows:
        at += timedelta(days=1 + step)
        lines.append(f"OWN-mill,{at},{'' if value is None else value / 100},1")
        if value is not None:
            expected[at] = value / 100
    data = source(tmp_path_factory.mktemp("t"), observations="\n".join(lines)).read("OWN-mill")
    found = {
        day.astype(object): value
        for one in data.series
        if one.variable == "precipitation"
        for day, value in zip(one.series.days, one.series.values.tolist(), strict=True)
        if not np.isnan(value)
    }
    assert found == expected


@pytest.mark.parametrize(
    ("old", "new", "line", "cause"),
    [
        ("id,", "basin,", 1, "id is missing"),
        ("area_km2", "area", 1, "area_km2 is missing"),
        (",", ";", 1, "the columns are split by semicolons"),
        (",", "\t", 1, "the columns are split by tabs"),
        ("latitude", "Latitude", 1, "column 4 is latitude in other capital"),
        ("name", "NAME", 1, "column 2 is name in other capital"),
        ("name,", "id,", 1, "two have the same"),
        ("OWN-mill", "mill", 2, "id is not a basin identifier"),
        ("OWN-mill", "01013500", 2, "the basin belongs to USGS"),
        ("OWN-mill", "CARAVAN-camels_1", 2, "belongs to CARAVAN"),
        ("12.5", "", 2, "area_km2 is empty"),
        ("12.5", "0", 2, "area_km2 is outside"),
        ("12.5", "12,5", 2, "the row has 8 columns instead of 7"),
        ("47.1", "91", 2, "latitude is outside -90 to 90 (91)"),
        ("47.1", '"47,1"', 2, "latitude is not a number (47,1)"),
        ("610", "high", 2, "elev_mean is not a number"),
        ("610\n", "610\nOWN-mill,,,1,1,1,1\n", 3, "the basin comes twice"),
    ],
)
def test_a_broken_table_of_basins_is_refused(tmp_path: Path, old: str, new: str, line: int, cause: str) -> None:
    error = fault(tmp_path, basins=BASINS.replace(old, new), observations=OBSERVATIONS)
    assert error.file.endswith("basins.csv")
    assert error.line == line
    assert cause in error.cause


@pytest.mark.parametrize(
    ("old", "new", "line", "cause"),
    [
        ("date", "day", 1, "date is missing"),
        ("basin,date", "Basin,Date", 1, "column 1 is basin in other capital"),
        ("discharge_m3_per_s", "Discharge_M3_per_s", 1, "column 5 is discharge_m3_per_s in other capital"),
        ("discharge_m3_per_s", "DISCHARGE_CFS", 1, "column 5 is discharge_cfs in other capital"),
        ("tmax_degC", "tmax_degF", 1, "column 4 (tmax) has a unit that is not taken"),
        (",tmax_degC", ",wind_m_per_s", 1, "column 4 is not known"),
        (",tmax_degC", ",tmax", 1, "column 4 (tmax) has no unit"),
        (",tmax_degC", ",tmax_K", 1, "column 4 (tmax) has a unit that is not taken"),
        ("precipitation_mm_per_day", "precipitation_inch", 1, "column 3 (precipitation) has a unit that is not taken"),
        ("tmax_degC", "discharge_cfs", 1, "two are of the same"),
        ("OWN-mill,2000-02-28", "OWN-mil,2000-02-28", 3, "the basin is not registered"),
        ("2000-02-28", "2000-02-27", 3, "the day 2000-02-27 comes twice, first in line 2"),
        ("2000-03-01", "2000-02-27", 4, "the day 2000-02-27 comes twice, first in line 2"),
        ("2000-02-28", "2000-02-26", 3, "the day 2000-02-26 comes after 2000-02-27: out of order"),
        ("2000-02-28", "2000-02-30", 3, "the date is not a calendar day"),
        ("2000-02-28", "20000228", 3, "the date is not a calendar day (20000228)"),
        ("2000-02-28", "28/02/2000", 3, "the date is not a calendar day (28/02/2000)"),
        ("2000-02-28", "28 février", 3, "the date is not a calendar day"),
        ("2000-02-28", "0200-02-28", 3, "the day 0200-02-28 is outside"),
        (",0,,0.2", ",-0.1,,0.2", 3, "precipitation_mm_per_day on 2000-02-28 is outside 0 to"),
        (",0,,0.2", ",0,,2e6", 3, "discharge_m3_per_s on 2000-02-28 is outside"),
        (",0,,0.2", ',0,,"1,250"', 3, "discharge_m3_per_s is not a number (1,250)"),
        (",0,,0.2", ",0,,\u22120.2", 3, "discharge_m3_per_s is not a number (\u22120.2)"),
        (",0,,0.2", ",0,280,0.2", 3, "tmax_degC on 2000-02-28 is outside -100 to 70 degC (280)"),
        (",0,,0.2", ",none,,0.2", 3, "precipitation_mm_per_day is not a number"),
        (",0,,0.2", ",nan,,0.2", 3, "precipitation_mm_per_day is not a number"),
        (",0,,0.2", ",1_0,,0.2", 3, "precipitation_mm_per_day is not a number"),
        (",0,,0.2", ",0,0.2", 3, "the row has 4 columns instead of 5"),
        (",0,,0.2", ',"0,,0.2', 4, "is not CSV"),
    ],
)
def test_broken_observations_are_refused(tmp_path: Path, old: str, new: str, line: int, cause: str) -> None:
    error = fault(tmp_path, observations=OBSERVATIONS.replace(old, new))
    assert error.file.endswith("observations.csv")
    assert error.line == line
    assert cause in error.cause


def test_an_error_repeats_numbers_dates_and_marks_of_the_file_and_nothing_else(tmp_path: Path) -> None:
    for old, new in (("0.2", "root:x:0:0"), ("0.2", "1" * 25), ("2000-02-28", "my birthday"), ("date", "hunter2")):
        assert new not in str(fault(tmp_path, observations=OBSERVATIONS.replace(old, new)))


def test_an_attribute_that_is_empty_is_not_known(tmp_path: Path) -> None:
    two = f"{BASINS}OWN-weir,Weir,0101,47.2,8.6,20,\n"
    tables = source(tmp_path, basins=two, observations=None)
    assert tables.read("OWN-mill").attributes["elev_mean"] == 610
    assert tables.read("OWN-weir").attributes == {"area_km2": 20}


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        (b"", None, "the file is empty"),
        (b",,\n", 1, "a column has no name"),
        (b"PK\x03\x04\x00\xff\xfe", None, "is a spreadsheet or a zip, not UTF-8"),
        (BASINS.encode("utf-16"), None, "is UTF-16 text, not UTF-8"),
        (b"\xfe\xff" + BASINS.encode("utf-16-be"), None, "is UTF-16 text, not UTF-8"),
        (BASINS.replace("Mill", "Mühle").encode("latin-1"), 2, "not UTF-8"),
        (BASINS.splitlines()[0].encode(), None, "there is no basin in it"),
        (BASINS.replace("elev_mean", "elev\0").encode(), 1, "column 7 has a character that cannot be stored"),
        (BASINS.replace("Mill brook", "Mill\0").encode(), 2, "column 2 has a character that cannot be stored"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(tmp_path: Path, content: bytes, line: int | None, cause: str) -> None:
    error = fault(tmp_path, basins=content)
    assert error.line == line
    assert cause in error.cause


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a list of objects"),
        ('{"id": 1}', "is not a list of objects"),
        ('[{"id": "OWN-a", "id": "OWN-b"}]', "an object that names something twice"),
        ('[{"id": "OWN-a", "latitude": 1, "longitude": 1}]', "area_km2 is missing"),
        (r'[{"id": "OWN-a", "\udfff": 1}]', "the name of column 2 has a character that cannot be stored"),
        ('[{"id": "OWN-a", "latitude": true, "longitude": 1, "area_km2": 1}]', "object 1: column 2 is neither"),
        ('[{"id": "OWN-a", "latitude": NaN, "longitude": 1, "area_km2": 1}]', "object 1: latitude is not a number"),
        ('[{"id": "OWN-a", "latitude": 1e999, "longitude": 1, "area_km2": 1}]', "object 1: latitude is not a number"),
        (
            '[{"id": "OWN-a", "latitude": 1, "longitude": 1, "area_km2": 1}, {"id": "OWN-b", "latitude": 1}]',
            "object 2: longitude is empty",
        ),
    ],
)
def test_json_that_is_not_a_table_is_refused(tmp_path: Path, content: str, cause: str) -> None:
    path = tmp_path / "basins.json"
    path.write_text(content)
    with pytest.raises(SourceError) as caught:
        TablesSource(path, None, "gauges")
    assert cause in caught.value.cause


@pytest.mark.parametrize("name", ["\ud800", "mill\udfff", "a\0b"])
def test_text_that_no_database_stores_is_refused(tmp_path: Path, name: str) -> None:
    basin = {"latitude": 1, "longitude": 1, "area_km2": 1}
    content = json.dumps([basin | {"id": "OWN-a", "name": "Mill"}, basin | {"id": "OWN-b", "name": name}])
    error = fault(tmp_path, basins=content, suffix="json")
    assert error.cause.startswith("object 2: column 5 has a character that cannot be stored")
    assert str(error).startswith(f"{tmp_path / 'basins.json'}: ")
    assert str(error).isprintable()


def test_a_file_is_named_by_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "basins.xlsx").write_text(BASINS)
    with pytest.raises(SourceError, match=r"neither \.csv nor \.json"):
        TablesSource(tmp_path / "basins.xlsx", None, "gauges")
    with pytest.raises(SourceError, match="cannot be read"):
        TablesSource(tmp_path / "missing.csv", None, "gauges")


@pytest.mark.parametrize("product", ["daymet", "era5_land", "Gauges", "own data", ""])
def test_a_product_has_a_name_of_its_own(tmp_path: Path, product: str) -> None:
    with pytest.raises(InvalidInput, match="cannot name your product"):
        TablesSource(tmp_path / "basins.csv", None, product)


def test_the_names_of_archives_are_taken() -> None:
    assert sorted(ARCHIVED) == sorted((*PRODUCTS, CARAVAN_PRODUCT))
