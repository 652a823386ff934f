"""What the shipped packages import is declared: another package's own dependencies may change."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from runtime.release import DISTRIBUTION
from tests.deployment.files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def shipped() -> list[Path]:
    """Return the top-level packages that are installed with Freshet."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    folders = [ROOT / where / pattern.removesuffix("*") for where in found["where"] for pattern in found["include"]]
    return [folder for folder in folders if folder.is_dir()]


def imports(file: Path) -> Iterator[str]:
    """Yield the top-level name of every absolute import of a module, those within functions included."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def normalised(name: str) -> str:
    """Return a distribution's name as indices compare it."""
    return re.sub("[-_.]+", "-", name).lower()


def declared() -> set[str]:
    """Return the distributions that are declared for use, the development extra left out."""
    extras = [names for extra, names in PROJECT["optional-dependencies"].items() if extra != "dev"]
    requirements = [*PROJECT["dependencies"], *(name for names in extras for name in names)]
    return {normalised(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in requirements}


def test_everything_imported_is_declared() -> None:
    packages = shipped()
    own = {package.name for package in packages} | sys.stdlib_module_names
    used = {name for package in packages for file in package.rglob("*.py") for name in imports(file)} - own
    distributions = metadata.packages_distributions()
    assert {"numpy", "fastapi", "redis"} <= used
    undeclared = {
        name for name in used if not {normalised(one) for one in distributions.get(name, [name])} & declared()
    }
    assert undeclared == set()


def test_nothing_installs_another_projects_distribution() -> None:
    """An index has a distribution `freshet` that is not this one."""
    assert PROJECT["name"] == DISTRIBUTION != "freshet"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    texts = [
        ROOT / name for name in files.split("\0") if name.endswith((".md", ".py", ".toml", ".yml", ".cff", "file"))
    ]
    installed = re.compile(r"pip3? +install\b[^\n`]*?[ '\"]freshet(?![\w-])")
    assert [str(file) for file in texts if installed.search(file.read_text("utf-8"))] == []
