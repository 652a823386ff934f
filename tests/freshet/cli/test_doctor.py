"""`freshet doctor` reports what works on this machine, and changes nothing."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.freshet.conftest import Freshet, RequestModel

pytestmark = pytest.mark.extended

PAGE = 4096  # bytes, of SQLite


def checks(result: RequestModel) -> dict[str, Any]:
    """Return the checks by their name."""
    return {check["name"]: check for check in result.json["checks"]}


def test_a_new_machine_is_well_and_left_as_it_is(freshet: Freshet) -> None:
    result = freshet("doctor", "--json")

    assert result.code == 0
    assert {name for name, check in checks(result).items() if not check["ok"]} == {"database"}
    assert checks(result)["database"]["ok"] is None
    assert f"no database at {freshet.data / 'freshet.sqlite'}" in checks(result)["database"]["detail"]
    assert "NONE YET" in freshet("doctor").out
    assert not freshet.data.exists()
    assert "; trains in float32, a network of rank 0 " in checks(result)["recurrence"]["detail"]


def test_a_stored_database_is_reported_with_its_revision(ingested: Freshet) -> None:
    result = ingested("doctor")

    assert result.code == 0
    assert f"{ingested.data / 'freshet.sqlite'}: revision" in result.out
    assert "all whole" in result.out
    assert "PROBLEM" not in result.out


def test_a_folder_that_cannot_be_written_is_reported_beside_the_rest(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    result = Freshet(tmp_path / "file" / "data")("doctor", "--json")

    assert result.code == 5
    assert not checks(result)["data folder"]["ok"]
    assert "FRESHET_DATA" in checks(result)["data folder"]["detail"]
    assert checks(result)["arithmetic"]["ok"]


def test_a_database_that_cannot_be_used_is_reported_beside_the_rest(tmp_path: Path) -> None:
    (tmp_path / "freshet.sqlite").write_bytes(b"rivers" * 2000)
    freshet = Freshet(tmp_path)

    for result in (freshet("doctor", "--json"), freshet("doctor", "--json", FRESHET_DATABASE_URL="nonsense")):
        assert result.code == 5
        assert not checks(result)["database"]["ok"]
        assert checks(result)["data folder"]["ok"]


def test_a_device_that_this_machine_lacks_is_reported(freshet: Freshet) -> None:
    result = freshet("doctor", "--json", FRESHET_DEVICE="cuda:98")

    assert result.code == 5
    assert not checks(result)["device"]["ok"]
    assert "FRESHET_DEVICE=cuda:98 cannot be used" in checks(result)["device"]["detail"]


def test_a_folder_that_is_not_camels_is_reported(tmp_path: Path) -> None:
    result = Freshet(tmp_path)("doctor", "--json", FRESHET_CAMELS=str(tmp_path / "nowhere"))

    assert result.code == 5
    assert not checks(result)["CAMELS folder"]["ok"]


def test_an_ingest_folder_that_was_chosen_must_be_there(tmp_path: Path) -> None:
    there, nowhere = tmp_path / "there", tmp_path / "nowhere"
    there.mkdir()
    well = Freshet(tmp_path)("doctor", "--json", FRESHET_INGEST_ROOTS=str(there))
    unwell = Freshet(tmp_path)("doctor", "--json", FRESHET_INGEST_ROOTS=f"{there},{nowhere}")

    assert checks(well)["ingest folder"]["ok"]
    assert unwell.code == 5
    assert not checks(unwell)["ingest folder"]["ok"]
    assert "FRESHET_INGEST_ROOTS" in checks(unwell)["ingest folder"]["detail"]


def test_a_page_that_was_overwritten_is_reported_by_doctor_and_by_check(ingested: Freshet) -> None:
    file = ingested.data / "freshet.sqlite"
    with file.open("r+b") as pages:
        pages.seek(-PAGE, os.SEEK_END)  # rows of series, which were written last
        pages.write(b"rivers!!" * (PAGE // 8))

    doctor, check = ingested("doctor", "--json"), ingested("check", "--json")

    assert (doctor.code, check.code) == (5, 5)
    assert not checks(doctor)["pages"]["ok"]
    assert "restore a backup" in checks(doctor)["pages"]["detail"]
    assert any(str(file) in fault for fault in check.json["faults"])
