"""`freshet doctor` tells what works on this machine, and changes nothing."""

from pathlib import Path
from typing import Any

from tests.freshet.conftest import Freshet, RequestModel

PAGE = 4096  # bytes, of SQLite


def checks(said: RequestModel) -> dict[str, Any]:
    """Return the checks by their name."""
    return {check["name"]: check for check in said.json["checks"]}


def test_a_new_machine_is_well_and_left_as_it_is(freshet: Freshet) -> None:
    said = freshet("doctor", "--json")

    assert said.code == 0
    assert {name for name, check in checks(said).items() if not check["ok"]} == {"database"}
    assert checks(said)["database"]["ok"] is None
    assert f"no database at {freshet.data / 'freshet.sqlite'}" in checks(said)["database"]["detail"]
    assert "NONE YET" in freshet("doctor").out
    assert not freshet.data.exists()
    assert "; trains in float32, a network of rank 0 " in checks(said)["recurrence"]["detail"]


def test_a_kept_database_is_told_with_its_revision(ingested: Freshet) -> None:
    said = ingested("doctor")

    assert said.code == 0
    assert f"{ingested.data / 'freshet.sqlite'}: revision" in said.out
    assert "all whole" in said.out
    assert "PROBLEM" not in said.out


def test_a_folder_that_cannot_be_written_is_told_beside_the_rest(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    said = Freshet(tmp_path / "file" / "data")("doctor", "--json")

    assert said.code == 5
    assert not checks(said)["data folder"]["ok"]
    assert "FRESHET_DATA" in checks(said)["data folder"]["detail"]
    assert checks(said)["arithmetic"]["ok"]


def test_a_database_that_cannot_be_used_is_told_beside_the_rest(tmp_path: Path) -> None:
    (tmp_path / "freshet.sqlite").write_bytes(b"rivers" * 2000)
    freshet = Freshet(tmp_path)

    for said in (freshet("doctor", "--json"), freshet("doctor", "--json", FRESHET_DATABASE_URL="nonsense")):
        assert said.code == 5
        assert not checks(said)["database"]["ok"]
        assert checks(said)["data folder"]["ok"]


def test_a_camels_folder_that_is_none_is_told(tmp_path: Path) -> None:
    said = Freshet(tmp_path)("doctor", "--json", FRESHET_CAMELS=str(tmp_path / "nowhere"))

    assert said.code == 5
    assert not checks(said)["CAMELS folder"]["ok"]


def test_an_ingest_folder_that_was_chosen_must_be_there(tmp_path: Path) -> None:
    there, nowhere = tmp_path / "there", tmp_path / "nowhere"
    there.mkdir()
    well = Freshet(tmp_path)("doctor", "--json", FRESHET_INGEST_ROOTS=str(there))
    unwell = Freshet(tmp_path)("doctor", "--json", FRESHET_INGEST_ROOTS=f"{there},{nowhere}")

    assert checks(well)["ingest folder"]["ok"]
    assert unwell.code == 5
    assert not checks(unwell)["ingest folder"]["ok"]
    assert "FRESHET_INGEST_ROOTS" in checks(unwell)["ingest folder"]["detail"]


def test_a_page_that_was_overwritten_is_told_by_doctor_and_by_check(ingested: Freshet) -> None:
    file = ingested.data / "freshet.sqlite"
    with file.open("r+b") as pages:
        pages.seek(file.stat().st_size // 2 // PAGE * PAGE)
        pages.write(b"rivers!!" * (PAGE // 8))

    doctor, check = ingested("doctor", "--json"), ingested("check", "--json")

    assert (doctor.code, check.code) == (5, 5)
    assert not checks(doctor)["pages"]["ok"]
    assert "restore a backup" in checks(doctor)["pages"]["detail"]
    assert any(str(file) in fault for fault in check.json["faults"])
