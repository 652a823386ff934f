"""Where another module answers to a name of Freshet's, every entry point refuses with a sentence, and runs nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.own_modules import PACKAGES, claimed_by_others, require_own
from runtime.release import DISTRIBUTION
from tests.foreign import foreign_folder, ran

ROOT = Path(__file__).parents[3]
SCRIPT = Path(sys.executable).with_name("freshet")


def run(folder: Path, *command: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    environment |= {} if path is None else {"PYTHONPATH": str(path)}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def refused(done: subprocess.CompletedProcess[str], foreign: Path, name: str) -> bool:
    found, own = foreign / name / "__init__.py", ROOT / name / "__init__.py"
    return (
        done.returncode == 1
        and f"Python finds {found} as `{name}`, where Freshet's is {own}: start Freshet from another" in done.stderr
        and "environment of its own (python -m venv)" in done.stderr
    )


def test_the_names_are_all_that_the_wheel_installs_but_for_the_clients() -> None:
    installed = (ROOT / "pyproject.toml").read_text().partition("[tool.setuptools.packages.find]")[2].splitlines()[1]
    assert all(f'"{name}*"' in installed for name in PACKAGES)
    assert installed.replace('"freshet_client*", ', "").count("*") == len(PACKAGES)


def test_the_installed_command_runs_nothing_of_its_working_folder(tmp_path: Path) -> None:
    foreign = foreign_folder(tmp_path / "foreign")
    done = run(foreign, str(SCRIPT), "--help")
    assert (done.returncode, ran(foreign)) == (0, [])


@pytest.mark.parametrize("name", ["models", "records", "app", "migrations"])
def test_a_foreign_module_is_named_with_the_one_that_is_expected(tmp_path: Path, name: str) -> None:
    foreign = foreign_folder(tmp_path / "foreign", name)
    for done in (
        run(tmp_path, str(SCRIPT), "doctor", path=foreign),
        run(foreign, sys.executable, "-m", "freshet", "serve"),
    ):
        assert refused(done, foreign, name), done.stderr
        assert "Traceback" not in done.stderr
    assert ran(foreign) == []


def test_an_import_refuses_a_foreign_module_too(tmp_path: Path) -> None:
    foreign = foreign_folder(tmp_path / "foreign", "hydrology", "records")
    done = run(tmp_path, sys.executable, "-c", "import extensions.bmi", path=foreign)
    assert refused(done, foreign, "hydrology"), done.stderr
    assert ran(foreign) == []


def test_a_single_file_is_foreign_too(tmp_path: Path) -> None:
    (tmp_path / "records.py").write_text("raise SystemExit('ran')")
    done = run(tmp_path, sys.executable, "-m", "freshet", "--help")
    assert done.returncode == 1
    assert f"Python finds {tmp_path / 'records.py'} as `records`" in done.stderr


def test_here_python_finds_freshets_own() -> None:
    require_own()


def test_a_distribution_that_installs_the_same_name_is_reported() -> None:
    (result,) = claimed_by_others({"models": [DISTRIBUTION, "zoo"], "app": [DISTRIBUTION], "numpy": ["numpy"]})
    assert result == "zoo installs a package `models` over Freshet's: install Freshet in an environment of its own"
