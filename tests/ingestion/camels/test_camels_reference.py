"""Reference snow water equivalent and model output."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from hydrology.base.series import DailySeries, Flag
from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels_text import TextFile, parse_model_output, parse_swe
from testing.files import camels as write

FILE = SourceFile("r.txt", "", 0)


def text(content: str) -> TextFile:
    return TextFile.decode(FILE, content.encode())


def test_each_column_of_snow_is_a_product() -> None:
    snow = parse_swe(FILE, write.swe().encode())
    assert list(snow) == ["uaz", "snodas"]
    assert snow["uaz"].unit == "mm"
    assert snow["uaz"].values.tolist() == [12.5, 13.0]
    assert np.isnan(snow["snodas"].values[0])
    assert snow["snodas"].flags.tolist() == [Flag.MISSING, 0]


@pytest.mark.parametrize("columns", ["day,uaz_swe", "date", "date,uaz", "date,_swe", "date,uaz_swe,uaz_swe"])
def test_wrong_columns_of_snow_are_refused(columns: str) -> None:
    with pytest.raises(SourceError, match=r"line 1: (the columns are|a column has no name, or two)"):
        parse_swe(FILE, write.swe(columns, ["1"]).encode())


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ("2000-02-28,13.0", "the row has 2 columns instead of 3"),
        ("2000-02-28,deep,13.0", "uaz_swe is not a number"),
        ("2000-02-30,13.0,13.0", "the date is not a calendar day"),
        ("2000-02-28,-999,13.0", "uaz_swe on 2000-02-28 is outside 0 to 20000 mm (-999)"),
        ("2000-02-27,13.0,13.0", "the day 2000-02-27 comes twice"),
    ],
)
def test_a_broken_row_of_snow_is_refused_by_number(row: str, cause: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_swe(FILE, (write.swe(rows=["12.5,"]) + row + "\n").encode())
    assert caught.value.line == 3
    assert cause in caught.value.cause


def test_the_model_output_leaves_out_the_observation_with_its_false_zeros() -> None:
    output = parse_model_output(text(write.model_output()))
    assert {name: series.unit for name, series in output.items()} == {
        "swe": "mm",
        "precipitation": "mm/day",
        "rain_plus_melt": "mm/day",
        "air_temperature": "degC",
        "pet": "mm/day",
        "et": "mm/day",
        "discharge_modelled": "mm/day",
    }
    assert [series.values[0] for series in output.values()] == [39.38, 1.5, 0.03, -19.55, 0.1304, 0.1204, 0.1843]


@pytest.mark.parametrize(
    ("old", "new", "line", "cause"),
    [
        ("PET ET", "ET PET", 1, "the columns are"),
        ("2000 02 28", "2000 02 32", 3, "not a calendar day"),
        ("0.1843000   0.0000000\n2", "-0.1843000   0.0\n2", 2, "MOD_RUN on 2000-02-27 is outside 0 to 10000 mm/day"),
        (" -19.5500000", " -999.0", 2, "TAIR on 2000-02-27 is outside -100 to 70 degC (-999)"),
    ],
)
def test_a_broken_model_output_is_refused_by_line(old: str, new: str, line: int, cause: str) -> None:
    content = write.model_output()
    assert old in content
    with pytest.raises(SourceError) as caught:
        parse_model_output(text(content.replace(old, new)))
    assert caught.value.line == line
    assert cause in caught.value.cause


def test_the_real_snow(camels: Path) -> None:
    with ZipFile(camels / "swe_reference.zip") as archive:
        snow = parse_swe(FILE, archive.read("swe_reference/14/09081600_swe.csv"))
    uaz, snodas = snow["uaz"], snow["snodas"]
    assert str(uaz.period) == "1981-10-01..2014-12-31"
    assert not np.isnan(uaz.values).any()
    first = snodas.days[~np.isnan(snodas.values)][0]
    assert first.astype("datetime64[Y]") == np.datetime64("2003")
    assert uaz.values.max() > 300  # the Crystal River lies in the high Rockies


def test_the_real_model_output(camels: Path) -> None:
    path = camels / "model_output/flow_timeseries/daymet/01/01031500_05_model_output.txt"
    output = parse_model_output(text(path.read_text()))
    assert str(output["swe"].period) == "1980-10-01..2014-12-31"
    assert not any(np.isnan(series.values).any() for series in output.values())
    # Of what fell; the snow-catch correction makes it 0.98 to 1.24 by basin.
    assert round(_total(output["rain_plus_melt"]) / _total(output["precipitation"]), 2) == 0.98


def _total(series: DailySeries) -> float:
    return float(series.values.sum())
