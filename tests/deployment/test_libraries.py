"""The wheel of this platform: the libraries of the recurrence, compiled for other platforms too, and the guide."""

import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from models.nets.compiled.variants import built_for, machine_of
from tests.deployment.files import ROOT, reaches_the_build

pytestmark = pytest.mark.extended

UNOPTIMISED = os.environ | {"CXXFLAGS": "-O0"}
"""Compiles in a sixth of the time; the libraries of this platform as they ship are those of all other tests."""

FOLDER = "models/nets/compiled"
ENDINGS = (".md", ".json")
MACH_O, ELF = b"\xcf\xfa\xed\xfe", b"\x7fELF"


def names_of(machine: str) -> set[str]:
    """Return the libraries of a family of processors, by their paths in the package."""
    return {f"{FOLDER}/recurrence-{variant.name}.so" for variant in built_for(machine)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of what reaches the images' build."""
    sources, folder = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in reaches_the_build():
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("*.so", "__pycache__")
            shutil.copytree(ROOT / name, sources / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, sources / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, sources], env=UNOPTIMISED, check=True)
    (path,) = folder.iterdir()
    return path


def test_the_wheel_is_this_platforms_and_holds_its_libraries(wheel: Path) -> None:
    machine = platform.machine()
    assert "-py3-none-" in wheel.name
    assert wheel.name.endswith(f"{machine}.whl")
    with ZipFile(wheel) as content:
        names = content.namelist()
    assert {name for name in names if name.endswith(".so")} == names_of(machine_of(machine))
    assert not [name for name in names if name.endswith((".cpp", ".h"))]


def test_the_wheel_holds_the_client_with_its_types(wheel: Path) -> None:
    with ZipFile(wheel) as content:
        assert {"freshet_client/operations.py", "freshet_client/py.typed"} <= {*content.namelist()}


def test_the_wheel_holds_the_guide(wheel: Path) -> None:
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*") if path.is_file()}
    with ZipFile(wheel) as content:
        names = content.namelist()
    assert {name.removeprefix("app/guide/") for name in names if name.startswith("app/guide/docs/")} == pages
    of_extensions = {str(path.relative_to(ROOT)) for path in (ROOT / "extensions").rglob("*") if path.suffix in ENDINGS}
    assert of_extensions
    assert of_extensions <= set(names)


def test_an_installed_wheel_needs_no_compiler_and_loads_a_library(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as content:
        content.extractall(tmp_path)
        (metadata,) = (content.read(name).decode() for name in content.namelist() if name.endswith("METADATA"))
    wanted = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert wanted
    assert not [line for line in wanted if "ziglang" in line]
    code = "from models.nets.compiled import loader; print(loader.__file__, loader.program(), loader.choose().name)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PATH": ""}
    output = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    path, program, best = output.split()
    assert Path(path).is_relative_to(tmp_path)
    assert program == best


@pytest.mark.parametrize(
    ("platform_name", "machine", "head"),
    [
        ("linux-aarch64", "aarch64", ELF),
        ("macosx-11.0-arm64", "aarch64", MACH_O),
        ("macosx-11.0-x86_64", "x86_64", MACH_O),
        ("linux-riscv64", "riscv64", b""),
    ],
)
def test_the_libraries_of_other_platforms_are_compiled_here(
    platform_name: str, machine: str, head: bytes, tmp_path: Path
) -> None:
    """Nothing here can run them."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--plat-name", platform_name]
    folders = ["--build-lib", str(tmp_path / "lib"), "--build-temp", str(tmp_path)]
    subprocess.run([*command, *folders], cwd=ROOT, env=UNOPTIMISED, check=True)
    libraries = {str(path.relative_to(tmp_path / "lib")): path.read_bytes() for path in tmp_path.rglob("*.so")}
    assert set(libraries) == names_of(machine)
    for content in libraries.values():
        assert content.startswith(head)
        assert all(f"freshet_{name}".encode() in content for name in ("double", "float", "half", "half_unit"))


def test_the_compiler_is_the_same_in_development_and_in_a_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (required,) = (one for one in project["build-system"]["requires"] if one.startswith("ziglang"))
    assert required in (ROOT / "constraints.txt").read_text().splitlines()
