"""Attribute files, whole and broken."""

from pathlib import Path

import pytest

from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels import parse_camels_attributes
from ingestion.sources.tables import GaugeAttributes, attributes_of
from testing.files import camels as write


def parse(*contents: str) -> dict[str, GaugeAttributes]:
    files = [
        parse_camels_attributes(SourceFile(f"{number}.txt", str(number), 0), content.encode())
        for number, content in enumerate(contents)
    ]
    return {basin: attributes_of(basin, files) for file in files for basin in file.words}


def test_numbers_words_and_areas_of_one_basin_from_several_files() -> None:
    basins = parse(write.NAME, write.TOPO, write.VEGE)
    one = basins[write.BASIN]
    assert one.words == {
        "huc_02": "01",
        "gauge_name": "Narraguagus River at Cherryfield, Maine",
        "dom_land_cover": "Mixed Forests",
    }
    assert one.numbers["frac_forest"] == 0.9232
    assert one.numbers["area_gages2"] == 573.6
    assert [file.name for file in one.files] == ["0.txt", "1.txt", "2.txt"]
    assert basins["SYNTH-01"].numbers == {"frac_forest": 0.5, "root_depth_50": 0.2}


@pytest.mark.parametrize("missing", ["", "NA", "NaN", " nan "])
def test_a_missing_value_is_left_out(missing: str) -> None:
    content = f"gauge_id;slope_fdc;geol_2nd_class;q5\n01022500;{missing};{missing};0.5\n"
    one = parse(content)[write.BASIN]
    assert one.numbers == {"q5": 0.5}
    assert one.words == {}


@pytest.mark.parametrize(
    ("content", "line", "cause"),
    [
        ("id;q5\n01022500;1\n", 1, "gauge_id is missing"),
        ("gauge_id;q5;q5\n01022500;1;1\n", 1, "two have the same"),
        ("gauge_id;q5\n01022500\n", 2, "the row has 1 column instead of 2"),
        ("gauge_id;q5\n01022500;1;2\n", 2, "the row has 3 columns instead of 2"),
        ("gauge_id;q5\n01022500;much\n", 2, "column 2 is not a number"),
        ("gauge_id;q5\n01022500;inf\n", 2, "column 2 is not a number"),
        ("gauge_id;q5\n1022500;1\n", 2, "gauge_id is not a gauge"),
        ("gauge_id;q5\n01022500;1\n01022500;2\n", 3, "the gauge comes twice"),
    ],
)
def test_a_broken_line_is_refused_by_number(content: str, line: int, cause: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse(content)
    assert caught.value.line == line
    assert cause in caught.value.cause


def test_the_seven_files(camels: Path) -> None:
    contents = [p.read_text() for p in sorted((camels / "camels_attributes_v2.0").glob("camels_*.txt"))]
    basins = parse(*contents)
    assert len(contents) == 7
    assert len(basins) == 671
    assert all(
        len(one.files) == 7 and one.numbers.keys() >= {"area_gages2", "area_geospa_fabric"} for one in basins.values()
    )
    statics = (camels / "basin_lists/mclstm_static_attributes.txt").read_text().split()
    assert all(name in one.numbers for one in basins.values() for name in (*statics, "p_seasonality"))
    snowy = (camels / "basin_lists/447_basin_file.txt").read_text().split()
    assert sum(basins[f"USGS-{gauge}"].numbers["frac_snow"] >= 0.5 for gauge in snowy) == 40
