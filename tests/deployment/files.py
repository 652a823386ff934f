"""The files of the deployment, read."""

import json
import re
import sysconfig
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "Dockerfile"
OWN_IMAGES = {"freshet:cpu", "freshet:cuda"}

Service = dict[str, Any]


def compose() -> dict[str, Any]:
    """Return the compose file, its merges done."""
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(COMPOSE)
    return read


def services() -> dict[str, Service]:
    """Return the services by their names."""
    found: dict[str, Service] = compose()["services"]
    return found


def own_services() -> dict[str, Service]:
    """Return the services that run `freshet`."""
    return {name: one for name, one in services().items() if one["image"] in OWN_IMAGES}


def dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, continued lines joined, without comments."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    lines = [line.partition(" ") for line in text.splitlines() if line.strip()]
    return [(name, result.strip()) for name, _, result in lines]


def stages() -> dict[str, list[tuple[str, str]]]:
    """Return the instructions of each stage, those of the stage that it starts from included; by "" those before."""
    stage = ""
    found: dict[str, list[tuple[str, str]]] = {stage: []}
    for name, result in dockerfile():
        if name == "FROM":
            parent, _, stage = result.partition(" AS ")
            found[stage] = list(found.get(parent, []))
        found[stage].append((name, result))
    return found


def reaches_the_build() -> set[str]:
    """Return what .dockerignore lets into the build of the images; it must begin by excluding everything."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def image_health() -> list[str]:
    """Return the command of the images' health check."""
    (result,) = (result for name, result in dockerfile() if name == "HEALTHCHECK")
    command: list[str] = json.loads(result.partition("CMD")[2])
    return command


def tool(name: str) -> Path:
    """Return a program that was installed beside this Python."""
    found = Path(sysconfig.get_path("scripts")) / name
    assert found.exists(), "install the development dependencies: pip install -e .[dev]"
    return found
