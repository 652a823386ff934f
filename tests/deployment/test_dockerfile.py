"""The Dockerfile: linted, for a user who is not root, of nothing but what is installed."""

import os
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from tests.deployment.files import DOCKERFILE, ROOT, dockerfile, image_health, reaches_the_build, stages, tool

TARGETS = ("cpu", "cuda")


def test_the_linter_finds_nothing() -> None:
    result = subprocess.run([tool("hadolint"), "--no-color", DOCKERFILE], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_runs_freshet_as_a_user_without_rights(target: str) -> None:
    result = dict(stages()[target])
    assert result["USER"] == "10001"
    assert result["ENTRYPOINT"] == '["freshet"]'
    assert any("/health/live" in word for word in image_health())
    assert result["COPY"] == f"--from=build-{target} /opt/freshet /opt/freshet"


def test_the_smaller_image_is_the_default_and_comes_before_what_the_larger_one_needs() -> None:
    assert dockerfile()[-1] == ("FROM", "cpu AS default")
    assert [*stages()][-4:] == ["cpu", "build-cuda", "cuda", "default"]


def test_package_indexes_are_arguments_without_a_default() -> None:
    arguments = {result for name, result in dockerfile() if name == "ARG"}
    assert arguments == {"PYTHON_IMAGE=python:3.11-slim", "PIP_INDEX_URL", "TORCH_INDEX_URL"}
    assert ("ARG", "PIP_INDEX_URL") in stages()["build-cpu"]
    assert ("ARG", "PIP_INDEX_URL") in stages()["build-cuda"]
    assert ("ARG", "TORCH_INDEX_URL") not in stages()["build-cuda"]


@pytest.mark.parametrize(("cuda", "words"), [(None, ""), ("13.0", "This torch has CUDA")])
def test_the_build_of_the_smaller_image_ends_where_torch_has_cuda(cuda: str | None, words: str, tmp_path: Path) -> None:
    (installs,) = (text for name, text in stages()["build-cpu"] if name == "RUN" and "TORCH_INDEX_URL" in text)
    venv.create(tmp_path)
    (site,) = tmp_path.glob("lib/*/site-packages")
    (site / "torch").mkdir()
    (site / "torch" / "version.py").write_text(f"cuda = {cuda!r}\n")
    command = ["sh", "-c", installs.partition(" && ")[2]]
    here = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    result = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr[: len(words)]) == (bool(words), words)


def test_all_packages_and_nothing_else_reach_the_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = project["tool"]["setuptools"]["packages"]["find"]
    packages = {name.rstrip("*") for name in found["include"]} - {"freshet_client"}  # in the folder client
    files = {"constraints.txt", "pyproject.toml", "setup.py", project["project"]["readme"]}
    assert reaches_the_build() == packages | files | {"client", "docs"}  # the pages of the guide
    assert all((ROOT / name).exists() for name in reaches_the_build())
