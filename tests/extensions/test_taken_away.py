"""Each extension can be taken away, whichever others there are: the service lacks what is its own, and nothing else."""

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from jobspec.extensions import GROUP
from tests.extensions import parts
from tests.extensions.parts import DATABASE

pytestmark = pytest.mark.extended

INSTALLED = sorted({entry.name for entry in metadata.entry_points(group=GROUP)})
OWN: dict[str, dict[str, tuple[str, ...]]] = {
    "archive": {
        "paths": ("/v1/archive",),
        "kinds": ("archive",),
        "commands": ("archive",),
        "guide": ("archive",),
    },
    "assistants": {"commands": ("mcp",), "guide": ("assistants",)},
    "bmi": {"guide": ("bmi",)},
    "decision_value": {"paths": ("/v1/basins/{basin}/decision-value",), "commands": ("decision-value",)},
    "events": {"paths": ("/v1/basins/{basin}/events",), "commands": ("events",)},
    "fews": {"commands": ("fews",), "guide": ("fews",)},
    "gpu": {"guide": ("gpu",), "programs": ("gpu",)},
    "mixture": {"paths": ("/v1/basins/{basin}/weather-models",), "guide": ("mixture",)},
    "physics_exam": {"guide": ("physics",)},
    "plot": {"paths": ("/v1/basins/{basin}/hydrograph",), "commands": ("plot",)},
    "regions": {
        "paths": ("/v1/regions",),
        "tags": ("regions",),
        "commands": ("regions",),
        "guide": ("regions",),
    },
    "receipts": {"commands": ("reproduce",)},
    "rivals": {
        "paths": ("/v1/rivals", "/v1/models/{version}/rivals", "/v1/basins/{basin}/rivals"),
        "commands": ("rivals",),
        "guide": ("rivals",),
    },
    "shadow": {
        "paths": ("/v1/shadow", "/v1/basins/{basin}/shadow", "/v1/models/{version}/shadow"),
        "commands": ("shadow",),
        "guide": ("shadow",),
    },
    "shipping": {"commands": ("models export",)},
    "spread": {"paths": ("/v1/basins/{basin}/spread",)},
    "weights": {"commands": ("models combine",)},
    "cap": {
        "paths": ("/v1/alerts/feed", "/v1/alerts/cap"),
        "feeds": ("/v1/alerts/feed",),
        "commands": ("alerts cap",),
        "guide": ("cap",),
    },
    "edr": {"paths": ("/v1/edr",), "tags": ("edr",), "guide": ("edr",)},
    "cells": {"paths": ("/v1/basins/{basin}/cells",), "commands": ("cells",), "guide": ("cells",)},
    "curves": {"paths": ("/v1/models/{version}/curves",), "commands": ("models curves",), "guide": ("curves",)},
    "caravan": {"commands": ("ingest caravan",), "sources": ("caravan",)},
    "daymet": {"adapters": ("daymet",)},
    "grid": {"adapters": ("grid",), "guide": ("grid",)},
    "openmeteo": {"adapters": ("open-meteo",)},
    "nwps": {"adapters": ("categories",)},
    "usgs": {
        "adapters": ("usgs", "ratings"),
        "paths": ("/v1/basins/{basin}/ratings", "/v1/ratings"),
        "commands": ("ratings versions", "ratings decide"),
    },
}
"""The beginnings of what is an extension's own."""


def services_with(choices: Sequence[Collection[str]], database: Path, folder: Path) -> list[dict[str, Any]]:
    """Return what services with these extensions have, each on a copy of a new database."""
    services = []
    for number, chosen in enumerate(choices):
        data = folder / str(number)
        data.mkdir(0o700)
        shutil.copy(database, data / DATABASE)
        services.append((str(data), sorted(chosen)))
    command = [sys.executable, "-m", parts.__name__, json.dumps(services)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_extension_is_named_here() -> None:
    assert sorted(OWN) == INSTALLED


def test_without_an_extension_exactly_its_own_is_missing(migrated_sqlite: Path, tmp_path: Path) -> None:
    away = _half_of_them()
    whole, *services = services_with([INSTALLED, *({*INSTALLED} - names for names in away)], migrated_sqlite, tmp_path)
    for name, own in OWN.items():
        assert {part for part in whole if _beginning_with(own.get(part, ()), whole[part])} == own.keys(), name
    for names, rest in zip(away, services, strict=True):
        assert rest.pop("pages") == [200] * 4, names
        for part, present in rest.items():
            missing = _beginning_with([start for name in names for start in OWN[name].get(part, ())], whole[part])
            assert [one for one in whole[part] if one not in missing] == present, (names, part)


def _half_of_them() -> list[set[str]]:
    """Return sets of extensions to take away: for any two, one of the sets has the first and lacks the second."""
    numbers = dict(zip(OWN, combinations(range(7), 3), strict=False))  # of three sets each, never the same three
    assert numbers.keys() == OWN.keys()
    return [{name for name, sets in numbers.items() if number in sets} for number in range(7)]


def _beginning_with(starts: Collection[str], names: Sequence[Any]) -> list[Any]:
    return [name for name in names if str(name).startswith(tuple(starts))]
