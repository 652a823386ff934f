"""The command line as a whole: help, start, and how an error ends a command."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.cli.commands import names
from runtime.release import code_version
from tests.freshet.conftest import BASINS, Freshet, environment

LIGHT = ("keys list", "weather list", "bridge list", "alerts list", "models list")
LISTS = ("feeds list", "jobs list", "schedules list", "subscriptions list", "audit")


def test_help_lists_the_commands_in_five_groups_in_the_order_of_the_work(freshet: Freshet) -> None:
    result = freshet("--help")

    headings = re.findall("^╭─ (.*?) ─+╮$", result.out, re.MULTILINE)
    lines = result.out[result.out.index(headings[1]) :].splitlines()
    first_words = [line.strip("│ ").split()[0] for line in lines if line.startswith("│ ") and line[2] != " "]
    assert result.code == 0
    assert headings == ["Options", "Start and data", "Models", "Forecasts", "Alerts and skill", "Service"]
    assert first_words == names()
    assert "Exit codes: 0 done" in result.out


@pytest.mark.parametrize("command", [*names(), "ingest camels", "models promote"])
def test_every_command_has_help(freshet: Freshet, command: str) -> None:
    result = freshet(*command.split(), "--help")

    assert (result.code, result.err) == (0, "")
    assert f"Usage: freshet {command}" in result.out
    assert "list[str]" not in result.out
    assert not freshet.data.exists()


def test_the_version_is_that_of_the_package(freshet: Freshet) -> None:
    result = freshet("--version")

    assert (result.code, result.out) == (0, f"freshet {code_version()}\n")


def test_without_a_command_the_help_is_shown_and_the_exit_code_is_not_zero(freshet: Freshet) -> None:
    result = freshet()

    assert result.code == 2
    assert "evaluate" in result.out
    assert "Error" not in result.err


@pytest.mark.extended
@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        (["--help"], {"torch", "fastapi", "sqlalchemy", "pydantic", "numpy", "structlog"}),
        (["basins"], {"torch", "fastapi"}),
        (["runs", "--json"], {"torch", "fastapi", "celery"}),
        *((words.split(), {"torch", "fastapi", "celery", "pandas", "xarray"}) for words in LIGHT),
        *((words.split(), {"torch", "pandas", "xarray"}) for words in LISTS),
    ],
)
def test_a_command_loads_what_it_uses(worked: Freshet, command: list[str], heavy: set[str]) -> None:
    program = (
        "import sys\n"
        "from freshet.cli.main import main\n"
        "try:\n    main()\n"
        "finally:\n    print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        env=os.environ | environment(worked.data),
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert not heavy & loaded


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("freshet fo", {"forecast"}), ("freshet ingest c", {"camels", "caravan"}), ("freshet runs --ba", {"--basin"})],
)
def test_the_shell_completes_commands_and_options(freshet: Freshet, typed: str, offered: set[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}

    result = freshet(_FRESHET_COMPLETE="complete_bash", **words)

    assert set(result.out.split()) == offered


@pytest.mark.extended
def test_bash_completes_once_it_has_been_taught(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = (
        "freshet --install-completion bash >&2 && source ~/.bashrc\n"
        "COMP_WORDS=(freshet models pro) COMP_CWORD=2\n"
        "_freshet_completion freshet && echo ${COMPREPLY[@]}\n"
    )

    ended = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"HOME": str(tmp_path), "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.split() == ["promote"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "No such command 'nonsense': see freshet --help."),
        (["basns"], "No such command 'basns'. Did you mean 'basins'? See freshet --help."),
        (["basins", "--nonsense"], "No such option: --nonsense: see freshet basins show --help."),
        (["evaluate"], "Missing option '--period': see freshet evaluate --help."),
        (["runs", "--limit", "0"], "Invalid value for '--limit'"),
        (["forecast", "--horizon", "ten"], "Invalid value for '--horizon'"),
        (["forecast", "--weather", "observd"], "Invalid value for '--weather': 'observd' is not one of 'observed'"),
        (["ingest", "camels"], "Missing option '--from': see freshet ingest camels --help."),
    ],
)
def test_misused_arguments_are_a_sentence_and_a_problem(freshet: Freshet, arguments: list[str], sentence: str) -> None:
    result = freshet(*arguments)
    with_json = freshet(*arguments, "--json")

    assert result.code == with_json.code == 2
    assert result.err.startswith(f"Error: {sentence}")
    assert result.out == ""
    assert with_json.json["problem"]["kind"] == "invalid-input"
    assert with_json.err == f"Error: {with_json.json['problem']['detail']}\n"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("FRESHET_CORES", "x"), ("FRESHET_CORES", "0"), ("FRESHET_AS_OF", "noon"), ("FRESHET_LOG_LEVEL", "loud")],
)
@pytest.mark.parametrize("command", ["basins", "doctor", "forecast", "demo"])
def test_a_bad_setting_is_named(freshet: Freshet, command: str, setting: str, value: str) -> None:
    result = freshet(command, "--json", **{setting: value})

    assert result.code == 2
    assert result.json["problem"]["kind"] == "bad-settings"
    assert setting in result.err


@pytest.mark.parametrize("command", [["basins"], ["runs"], ["models", "list"], ["forecast"], ["serve"]])
@pytest.mark.parametrize("url", ["nonsense", "mysql://reader:secret@example/one"])
def test_a_database_url_of_another_kind_is_refused(freshet: Freshet, command: list[str], url: str) -> None:
    result = freshet(*command, FRESHET_DATABASE_URL=url)

    assert result.code == 2
    assert "sqlite:////path/freshet.sqlite" in result.err
    assert "secret" not in result.err


def test_a_server_that_does_not_answer_is_a_sentence_without_the_password(freshet: Freshet) -> None:
    result = freshet("basins", "--json", FRESHET_DATABASE_URL="postgresql://reader:secret@127.0.0.1:1/freshet")

    assert result.code == 5
    assert result.json["problem"]["kind"] == "database"
    assert "127.0.0.1:1" in result.err
    assert "secret" not in result.out + result.err


@pytest.mark.parametrize("command", [["ingest", "camels", "--from", "COUNTRY"], ["demo", "--once"]])
def test_a_data_folder_that_cannot_be_created_is_a_sentence(tmp_path: Path, country: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("in the way")

    result = Freshet(tmp_path / "file" / "data")(*(text.replace("COUNTRY", str(country)) for text in command))

    assert result.code == 5
    assert result.err.startswith("Error: The database sqlite:///")
    assert str(tmp_path / "file" / "data") in result.err


@pytest.mark.parametrize("command", [["basins"], ["forecast"], ["models", "list"], ["serve"]])
def test_a_file_that_is_not_a_database_is_reported_in_a_sentence(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "freshet.sqlite").write_bytes(b"rivers" * 2000)

    result = Freshet(tmp_path)(*command)

    assert result.code == 5
    assert f"{tmp_path / 'freshet.sqlite'} cannot be used" in result.err
    assert (tmp_path / "freshet.sqlite").read_bytes() == b"rivers" * 2000


def test_damage_that_is_met_on_the_way_is_a_sentence(ingested: Freshet) -> None:
    file = ingested.data / "freshet.sqlite"
    whole = file.read_bytes()
    half = len(whole) // 2 // 4096 * 4096
    file.write_bytes(whole[:half] + b"\xff" * (len(whole) - half))

    ended = [ingested("train", "--train-period", "2001-10-01..2004-09-30"), ingested("basins", BASINS[0])]

    for result in ended:
        assert result.code == 5
        assert f"{file} cannot be used" in result.err
        assert "Traceback" not in result.err


def test_the_drivers_own_form_of_a_url_is_refused(worked: Freshet, tmp_path: Path) -> None:
    """It would be taken for a folder named `file:`."""
    result = worked("forecast", FRESHET_DATABASE_URL=f"sqlite:///file:{tmp_path / 'some.sqlite'}?mode=ro&uri=true")
    assert result.code == 2
    assert "names neither a SQLite file" in result.err


def test_a_closed_output_pipe_causes_no_traceback(worked: Freshet) -> None:
    freshet = shutil.which("freshet", path=Path(sys.executable).parent)
    assert freshet is not None
    command = [freshet, "runs", json.loads(worked("runs", "--json").out)["runs"][0]["id"], "--json"]
    read, written = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            command,
            env=os.environ | environment(worked.data),
            stdout=written,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(written)

    assert done.returncode != 0
    assert "Traceback" not in done.stderr
