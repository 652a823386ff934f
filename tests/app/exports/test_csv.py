"""Every table as CSV: the content of JSON, units in the header, empty cells for null, and never a formula."""

import csv
import io
import re
from typing import Any

import pandas
import pytest
from starlette.testclient import TestClient

from app.exports.formats import csv_of
from app.exports.table import Column, Table
from testing.records import BASIN
from tests.app.exports.conftest import (
    BARE,
    BASINS,
    FORECAST,
    FORECASTS,
    FORMULA,
    OBSERVATIONS,
    SECOND,
    SKILL,
    STORAGE,
    VOLUMES,
)

CSV = {"Accept": "text/csv"}


def rows(client: TestClient, address: str) -> list[dict[str, str]]:
    answer = client.get(address, headers=CSV)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def column(table: list[dict[str, str]], name: str) -> list[float | None]:
    return [float(row[name]) if row[name] else None for row in table]


def test_a_forecast_has_the_content_of_json(exporting: TestClient) -> None:
    result, table = (
        exporting.get(FORECAST, params={"members": True}).json(),
        rows(exporting, f"{FORECAST}?members=true"),
    )
    assert [row["time"] for row in table] == result["time"]
    assert column(table, "lead_days [day]") == result["lead_days"]
    for variable in ("calibrated", "discharge"):
        for name, values in result[variable].items():
            assert column(table, f"{variable}_{name} [m3/s]") == values
    for label, values in result["members"].items():
        assert column(table, f"member_{label} [m3/s]") == values
    assert column(table, "storage_total [mm]") == result["storage"]["total"]
    assert column(table, "storage_snow [mm]") == result["storage"]["snow"]
    for name in ("precipitation", "loss"):
        assert column(table, f"{name} [mm/day]") == result[name]
    for row in table:
        assert (row["basin"], row["run"], row["t0"], row["issued_at"]) == (
            *(BASIN, result["run"], "2008-09-30", "2008-10-01T06:00:00Z"),
        )
        assert (row["stale"], row["reason"], row["latitude [degrees_north]"]) == ("FALSE", "", "47.25")


def test_the_unit_that_is_asked_for_is_in_the_header(exporting: TestClient) -> None:
    (first, *_) = rows(exporting, f"{FORECAST}?units=cfs")
    assert "discharge_median [cfs]" in first
    assert "discharge_median [m3/s]" not in first


def test_many_basins_are_one_table_and_none_is_left_out(exporting: TestClient) -> None:
    result, table = exporting.get(FORECASTS).json(), rows(exporting, FORECASTS)
    for forecast in result["forecasts"]:
        of_basin = [row for row in table if row["basin"] == forecast["basin"]]
        assert [row["time"] for row in of_basin] == forecast["time"]
        assert column(of_basin, "discharge_p05 [m3/s]") == forecast["discharge"]["p05"]
    assert column([row for row in table if row["basin"] == SECOND], "calibrated_p10 [m3/s]") == [None] * 3
    (bare,) = [row for row in table if row["basin"] == BARE]
    assert bare["reason"] == result["without"][0]["reason"]
    assert (bare["time"], bare["discharge_median [m3/s]"]) == ("", "")


def test_observations_have_the_content_of_json(exporting: TestClient) -> None:
    result, table = exporting.get(OBSERVATIONS).json(), rows(exporting, OBSERVATIONS)
    assert [row["time"] for row in table] == result["time"]
    assert column(table, "discharge [m3/s]") == result["values"]["discharge"]
    assert None in result["values"]["discharge"]
    assert column(table, "discharge_flags") == result["flags"]["discharge"]


def test_storage_has_the_content_of_json(exporting: TestClient) -> None:
    result, table = exporting.get(STORAGE).json(), rows(exporting, STORAGE)
    for name in ("total", "snow", "other"):
        assert column(table, f"storage_{name} [mm]") == result[name]


def test_scores_have_the_content_of_json(exporting: TestClient) -> None:
    result, table = exporting.get(SKILL).json(), rows(exporting, SKILL)
    assert [(row["metric"], float(row["value"]), int(row["n"]), row["first_day"]) for row in table] == [
        (score["metric"], score["value"], score["n"], score["period"]["first_day"]) for score in result["scores"]
    ]
    of_model = f"/v1/models/{result['version']}/skill"
    (quartiles,) = exporting.get(of_model).json()["scores"]
    (row,) = rows(exporting, of_model)
    assert (float(row["p25"]), float(row["median"]), int(row["lacking"])) == (
        *(quartiles["p25"], quartiles["median"], quartiles["lacking"]),
    )


def test_volumes_have_the_content_of_json(exporting: TestClient) -> None:
    result, table = exporting.get(VOLUMES).json(), rows(exporting, VOLUMES)
    assert column(table, "exceeded [percent]") == result["exceeded_percent"]
    for name, unit in (("depth", "mm"), ("ahead_depth", "mm"), ("volume", "1e6 m3"), ("percent_of_normal", "percent")):
        values = result["calibrated"][name]
        assert column(table, f"calibrated_{name} [{unit}]") == (values or [None] * 5)


def test_basins_have_the_content_of_json(exporting: TestClient) -> None:
    result, table = exporting.get(BASINS).json()["basins"], rows(exporting, BASINS)
    assert [row["basin"] for row in table] == [basin["id"] for basin in result] == [SECOND, BARE, BASIN]
    assert table[0]["name"] == result[0]["name"] == 'Älv, "Övre" bron'
    assert column(table, "area [km2]") == [None, None, 2300.0]
    assert [row["area_source"] for row in table] == ["", "", "maurer_extended"]


def test_a_page_of_a_file_names_the_next(exporting: TestClient) -> None:
    first = exporting.get(BASINS, params={"format": "csv", "limit": 2})
    following = first.links["next"]["url"]
    assert "format=csv" in following
    assert exporting.get(following).text.splitlines()[1].startswith(BASIN)


def test_a_list_without_basins_is_an_empty_table(exporting: TestClient) -> None:
    answer = exporting.get(BASINS, params={"format": "csv", "q": "nowhere"})
    assert answer.text.splitlines()[0].startswith("basin,name,")
    assert len(answer.text.splitlines()) == 1


def test_pandas_reads_it(exporting: TestClient) -> None:
    result, file = exporting.get(OBSERVATIONS).json(), exporting.get(OBSERVATIONS, headers=CSV).content
    table = pandas.read_csv(io.BytesIO(file), parse_dates=["time"])
    assert not file.startswith(b"\xef\xbb\xbf")
    assert table["time"].dt.strftime("%Y-%m-%d").tolist() == result["time"]
    assert [None if pandas.isna(value) else value for value in table["discharge [m3/s]"]] == result["values"][
        "discharge"
    ]


def test_truth_values_are_those_that_pandas_reads_as_such(exporting: TestClient) -> None:
    table = pandas.read_csv(io.BytesIO(exporting.get(FORECAST, headers=CSV).content))
    assert {name: set(table[name]) for name in ("stale", "official")} == {"stale": {False}, "official": {True}}
    assert table["stale"].dtype == bool


@pytest.mark.parametrize("address", [FORECAST, FORECASTS, OBSERVATIONS, STORAGE, SKILL, VOLUMES, BASINS])
def test_a_spreadsheet_finds_the_table_by_itself(exporting: TestClient, address: str) -> None:
    """What an import of text guesses: commas, quotes, and that no cell holds a line's beginning."""
    text = exporting.get(address, headers=CSV).content.decode()
    dialect = csv.Sniffer().sniff(text)
    assert (dialect.delimiter, dialect.quotechar) == (",", '"')
    guessed = list(csv.reader(io.StringIO(text, newline=""), dialect))
    assert guessed == list(csv.reader(io.StringIO(text, newline="")))
    assert {len(row) for row in guessed} == {len(guessed[0])}


def test_every_number_is_one_to_a_spreadsheet(exporting: TestClient) -> None:
    """Digits, a point and an exponent: no blanks between thousands, no unit, no word for what is missing."""
    for row in rows(exporting, FORECASTS) + rows(exporting, OBSERVATIONS):
        for name, cell in row.items():
            if name.endswith("]"):
                assert re.fullmatch(r"(-?\d+(\.\d+)?(e[+-]?\d+)?)?", cell), (name, cell)


def test_a_name_from_outside_is_never_a_formula(exporting: TestClient) -> None:
    names = {row["name"] for row in rows(exporting, BASINS)} | {row["name"] for row in rows(exporting, FORECASTS)}
    assert f"'{FORMULA}" in names
    assert not [name for name in names if name[:1] in tuple("=+-@")]


def test_formulas_are_written_as_text_in_every_locale() -> None:
    """Also in full width, behind blanks that spreadsheets leave out, and where another separator splits a text."""
    formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20A1", "\ufe661"]
    before = [
        "",
        " ",
        "\xa0",
        "\u3000 ",
        "\ufeff",
        "\u200b",
        "\t",
        "\r",
        '"',
        "x;",
        "x; ",
        "x\t",
        "x|\xa0",
        "x\n",
        "a, b;\u202e",
    ]
    for text in (start + formula for start in before for formula in formulas):
        stored: list[Any] = [text, None]
        file = csv_of(Table("t", "T", [Column(text, "", "text", stored), Column("n", "", "number", [-1.5, None])]))
        heading, first, second = csv.reader(io.StringIO(file.decode(), newline=""))
        assert (first[1], second) == ("-1.5", ["", ""])
        for cell in (heading[0], first[0]):
            assert cell.replace("'", "") == text
            cells = [part.strip('" \xa0\u3000\ufeff\u200b\u202e') for part in re.split(r"[;|\t\r\n]", cell)]
            assert not [part for part in cells if part[:1] in tuple(sign[0] for sign in formulas)], text
    for text in ("Boise, ID", "e = mc2; n", "a-b;c+d", "Saint-Jean | x@y.example", "it's 5"):
        assert csv_of(Table("t", "T", [Column("n", "", "text", [text])])).decode().count("'") == text.count("'")
