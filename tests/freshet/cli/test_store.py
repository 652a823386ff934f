"""Which commands make a new database, and that no other takes a mistyped folder for an empty one."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.freshet.conftest import PERIODS, Freshet

WORK_ON_WHAT_IS_THERE = [
    ("basins",),
    ("train", *PERIODS),
    ("evaluate", "--period", "2004-10-01..2005-03-31"),
    ("compare", "--version", "a", "--version", "b", "--period", "2004-10-01..2005-03-31"),
    ("forecast",),
    ("runs",),
    ("models", "list"),
    ("models", "show", "a"),
    ("models", "promote", "a", "--reason", "better"),
    ("models", "export", "a", "folder"),
    ("models", "install-pretrained"),
    ("jobs", "list"),
    ("jobs", "show", "a"),
    ("jobs", "cancel", "a"),
    ("keys", "list"),
    ("keys", "revoke", "a"),
    ("schedules", "list"),
    ("schedules", "add", "daily", "--kind", "forecast", "--cron", "0 6 * * *"),
    ("audit",),
]


BEGIN_WHERE_EXPECTED = [("serve",), ("api",), ("worker",), ("scheduler",), ("keys", "make", "river office")]


@pytest.mark.parametrize("command", WORK_ON_WHAT_IS_THERE, ids=lambda command: " ".join(command[:2]))
def test_a_mistyped_folder_is_reported_and_not_created(freshet: Freshet, command: tuple[str, ...]) -> None:
    result = freshet(*command, "--json")

    detail = result.json["problem"]["detail"]
    assert (result.code, result.json["problem"]["kind"]) == (5, "database")
    assert detail.startswith(f"There is no database at {freshet.data / 'freshet.sqlite'}: ")
    assert "FRESHET_DATA or FRESHET_DATABASE_URL may be mistyped" in detail
    assert "`freshet ingest` creates a new one" in detail
    assert not freshet.data.exists()


@pytest.mark.parametrize("command", BEGIN_WHERE_EXPECTED, ids=" ".join)
@pytest.mark.parametrize("setting", ["FRESHET_DATA", "FRESHET_DATABASE_URL"])
def test_neither_a_service_nor_a_key_starts_in_a_mistyped_folder(
    freshet: Freshet, tmp_path: Path, command: tuple[str, ...], setting: str
) -> None:
    folder = tmp_path / "mis typed"
    named = str(folder) if setting == "FRESHET_DATA" else f"sqlite:///{folder / 'freshet.sqlite'}"

    result = freshet(*command, **{setting: named})

    assert result.code == 5
    assert f"There is no database at {folder / 'freshet.sqlite'}: " in result.err
    assert f"once the folder exists: mkdir -p '{folder}'" in result.err
    assert not folder.exists()
    assert not freshet.data.exists()


def test_creating_a_key_creates_the_default_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "freshet", "keys", "make", "river office"]

    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)

    assert (tmp_path / "freshet-data" / "freshet.sqlite").exists()


def test_a_mistyped_url_is_reported_and_not_created(worked: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "mistyped.sqlite"

    result = worked("runs", FRESHET_DATABASE_URL=f"sqlite:///{file}")

    assert result.code == 5
    assert f"There is no database at {file}: " in result.err
    assert not file.exists()


def test_creating_a_database_is_reported_once_on_standard_error(freshet: Freshet, country: Path) -> None:
    first = freshet("ingest", "camels", "--from", str(country), "--json")
    again = freshet("ingest", "camels", "--from", str(country), "--json")

    sentence = f"A new database was created: {freshet.data / 'freshet.sqlite'}\n"
    assert first.err.count(sentence) == 1
    assert "A new database" not in again.err
    assert len(first.json["basins"]) == len(again.json["basins"])


def test_a_key_may_be_the_first_thing_that_is_created(freshet: Freshet) -> None:
    freshet.data.mkdir()
    result = freshet("keys", "make", "river office", "--json")

    assert result.code == 0
    assert "A new database was created: " in result.err
    assert [key["id"] for key in freshet("keys", "list", "--json").json["keys"]] == [result.json["id"]]


def test_doctor_reports_a_missing_database_like_the_commands(freshet: Freshet) -> None:
    checks = {check["name"]: check["detail"] for check in freshet("doctor", "--json").json["checks"]}

    assert freshet("runs", "--json").json["problem"]["detail"] == checks["database"]
