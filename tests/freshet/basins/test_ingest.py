"""`freshet ingest camels` and `freshet basins`."""

import shutil
from pathlib import Path

import pytest

from freshet.commands import ingest
from ingestion.base import ANY_FILES, Files
from tests.freshet.conftest import BASINS, Freshet
from tests.operations.basin_data.test_isolated_source import CRASHES, Crashing


def crashing(paths: list[Path], product: str | None, files: Files = ANY_FILES) -> Crashing:
    """Return, in place of a CAMELS source, one that crashes at a basin."""
    assert product is None
    return Crashing(paths, files)


def test_the_same_again_stores_nothing(freshet: Freshet, country: Path) -> None:
    first = freshet("ingest", "camels", "--from", str(country), "--json")
    again = freshet("ingest", "camels", "--from", str(country), "--json")

    assert (first.code, first.json["counts"]) == (0, {"new": 3})
    assert (again.code, again.json["counts"]) == (0, {"unchanged": 3})
    assert [one["basin"] for one in first.json["basins"]] == list(BASINS)
    assert "basins: 3 of 3" in first.err


def test_only_the_named_basins_are_ingested(freshet: Freshet, country: Path) -> None:
    result = freshet("ingest", "camels", "--from", str(country), "--basin", "SYNTH-02")

    assert result.code == 0
    assert "1 basin: 1 new" in result.out
    assert [one["id"] for one in freshet("basins", "--json").json["basins"]] == ["SYNTH-02"]


def test_a_broken_basin_is_reported_and_the_others_go_on(freshet: Freshet, country: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(country, tmp_path / "broken"))
    streamflow = folder / "usgs_streamflow" / "00" / "SYNTH-02_streamflow_qc.txt"
    streamflow.write_text(streamflow.read_text().replace("2001 02 03", "2001 02 31"))

    partly = freshet("ingest", "camels", "--from", str(folder), "--json")
    alone = freshet("ingest", "camels", "--from", str(folder), "--basin", "SYNTH-02", "--json")

    assert (partly.code, partly.json["counts"]) == (6, {"new": 2, "failed": 1})
    assert "Failed: SYNTH-02:" in partly.err
    assert "SYNTH-02_streamflow_qc.txt" in partly.err
    assert (alone.code, alone.json["counts"]) == (4, {"failed": 1})


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--from", "/no/such/folder"], 4, "/no/such/folder: there is no such file or folder"),
        (["--from", "COUNTRY", "--basin", "01013500"], 2, "The source does not hold USGS-01013500"),
        (["--from", "COUNTRY", "--basin", "a river"], 2, "'a river' is not a basin identifier"),
        (["--from", "COUNTRY", "--product", "guesses"], 2, "'guesses' is not a forcing product"),
        (["--from", "ftp://example/camels.zip"], 2, "neither http nor https"),
        (["--from", "https://example/camels.zip#md5=1"], 2, "#md5=1 is not a checksum"),
    ],
)
def test_a_failed_ingest_is_reported_and_creates_no_data_folder(
    freshet: Freshet, country: Path, arguments: list[str], code: int, sentence: str
) -> None:
    result = freshet("ingest", "camels", *(text.replace("COUNTRY", str(country)) for text in arguments), "--json")

    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
    assert sentence in result.err
    assert not freshet.data.exists()


@pytest.mark.parametrize("layout", ["caravan", "benchmarks"])
def test_a_missing_source_creates_no_data_folder(freshet: Freshet, layout: str) -> None:
    result = freshet("ingest", layout, "--from", "/no/such/place")

    assert result.code == 4
    assert "/no/such/place" in result.err
    assert not freshet.data.exists()


def test_a_folder_without_known_files_and_a_file_that_is_not_a_zip_are_reported(
    freshet: Freshet, tmp_path: Path
) -> None:
    (tmp_path / "camels.zip").write_text("no zip")
    (tmp_path / "empty").mkdir()

    for name in ("camels.zip", "empty"):
        result = freshet("ingest", "camels", "--from", str(tmp_path / name))
        assert result.code == 4
        assert str(tmp_path / name) in result.err


def test_basins_are_listed_and_chosen_by_text_and_unit(ingested: Freshet) -> None:
    def listed(*arguments: str) -> list[str]:
        return [one["id"] for one in ingested("basins", *arguments, "--json").json["basins"]]

    assert listed() == list(BASINS)
    assert listed("--text", "alpine") == ["SYNTH-03"]
    assert listed("--huc", "00") == list(BASINS)
    assert listed("--huc", "17") == []
    assert "3 basins" in ingested("basins").out


def test_a_basin_is_shown_with_areas_series_and_quality(ingested: Freshet) -> None:
    shown = ingested("basins", "SYNTH-02", "--json").json
    text = ingested("basins", "SYNTH-02").out

    series = {(one["product"], one["variable"]): one for one in shown["series"]}
    assert shown["id"] == "SYNTH-02"
    assert series["synthetic", "precipitation"]["unit"] == "mm/day"
    days = [series["synthetic", "precipitation"][end] for end in ("first_day", "last_day")]
    assert days == ["2000-10-01", "2005-09-30"]
    assert shown["current_version"] is None
    assert shown["area"]["name"] == "synthetic"
    assert f"area: {shown['area']['km2']:.1f} km2 (synthetic)" in text
    assert f"{shown['areas_km2']['area_gages2']:.1f} (area_gages2)" in text
    assert "misses 10 of 1826 days" in text


@pytest.mark.parametrize(("basin", "code"), [("01013500", 3), ("a river", 2)])
def test_a_basin_that_is_not_stored_is_reported(ingested: Freshet, basin: str, code: int) -> None:
    result = ingested("basins", basin, "--json")

    assert result.code == code
    assert result.json["problem"]["detail"] in result.err


@pytest.mark.extended
def test_a_file_that_crashes_the_process_is_reported_and_the_others_are_ingested(
    freshet: Freshet, country: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "CamelsSource", crashing)
    result = freshet("ingest", "camels", "--from", str(country), "--json")

    assert (result.code, result.json["counts"]) == (6, {"new": 1, "failed": 2})  # one is broken
    assert f"Failed: {CRASHES}: {country}" in result.err
    assert "the process that read it was killed by SIGSEGV" in result.err
