"""Each extension can be taken away: the service lacks what is its own, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from jobspec.extensions import GROUP, SETTING

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
    "fews": {"commands": ("fews",), "guide": ("fews",)},
    "gpu": {"guide": ("gpu",), "programs": ("gpu",)},
    "physics_exam": {"guide": ("physics",)},
    "plot": {"paths": ("/v1/basins/{basin}/hydrograph",), "commands": ("plot",)},
    "shipping": {"commands": ("models export",)},
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
    "usgs": {"adapters": ("usgs",)},
}
"""The beginnings of what is an extension's own."""
_PROGRAM = """
import json, re, sys
from datetime import UTC, datetime
from starlette.testclient import TestClient
from app.main import create_app
from freshet.cli.commands import commands
from freshet.cli.job_command import take_device
from hydrology.base.errors import InvalidInput
from freshet.commands.feeds import start_feeds
from jobspec.feed_kinds import FEED_KINDS, USUAL, usual_left_out
from jobspec.jobs.data import SOURCES
from jobspec.kinds import KINDS
from jobspec.subscriptions import NewSubscription
from models.devices import gpu_programs
from records.access import keys
from records.alerts import subscriptions
from records.database.engine import Database
from runtime.settings import Settings
from workers.tasks import HANDLERS

settings = Settings.load(database_url=sys.argv[1], broker_url="memory://")
database = Database(settings.database_url)
with database.transaction() as session:
    key, token = keys.make(session, "river office", "admin", None, datetime.now(UTC))
    subscriptions.create(session, NewSubscription(email="a@rivers.example"), key.id, datetime.now(UTC), settings)
database.close()
with TestClient(create_app(settings), base_url="http://localhost") as client:
    document = client.get("/openapi.json").raise_for_status().json()
    (receiver,) = client.get("/v1/subscriptions", headers={"Authorization": f"Bearer {token}"}).json()["subscriptions"]
    feeds = [receiver["feed"]] if receiver["feed"] else []
    assert feeds or "cap" in receiver["missing"]["feed"]
    assert bool(feeds) == ("Atom feed" in client.get("/alerts").text)
    guide = sorted(re.findall(r'href="/guide/([a-z-]+)"', client.get("/guide").text))
    pages = [client.get(path).status_code for path in ("/", "/alerts", "/guide", "/health/ready")]
assert KINDS.keys() == HANDLERS.keys()
try:
    take_device(settings, "cuda:98")
except InvalidInput as problem:
    assert ("extension gpu" in str(problem)) == (gpu_programs() is None)
assert ("flow (extension usgs)" in usual_left_out()) == ("usgs" not in FEED_KINDS)
if not USUAL:
    try:
        start_feeds("2020-01-01")
    except InvalidInput as problem:
        assert str(problem) == usual_left_out()
    else:
        raise AssertionError("it has started nothing without an error")
print(json.dumps({
    "paths": list(document["paths"]), "tags": [tag["name"] for tag in document["tags"]],
    "kinds": list(KINDS), "commands": list(commands()),
    "pages": pages, "guide": guide, "feeds": feeds, "programs": [] if gpu_programs() is None else ["gpu"],
    "adapters": list(FEED_KINDS), "sources": list(SOURCES),
}))
"""


def service_of(database: Path, folder: Path, extensions: list[str]) -> dict[str, Any]:
    """Return what a service with some extensions has, on a copy of a new database."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, f"sqlite:///{shutil.copy(database, folder / 'freshet.sqlite')}"],
        env=os.environ | {SETTING: ",".join(extensions), "FRESHET_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    parts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return parts


@pytest.fixture(scope="module")
def whole(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return service_of(migrated_sqlite, tmp_path_factory.mktemp("whole"), INSTALLED)


def test_each_extension_is_named_here() -> None:
    assert sorted(OWN) == INSTALLED


@pytest.mark.parametrize("name", OWN)
def test_without_an_extension_exactly_its_own_is_missing(
    name: str, whole: dict[str, Any], migrated_sqlite: Path, tmp_path: Path
) -> None:
    rest = service_of(migrated_sqlite, tmp_path, [other for other in INSTALLED if other != name])
    assert rest.pop("pages") == [200] * 4
    for part, names in rest.items():
        own = [one for one in whole[part] if one.startswith(OWN[name].get(part, ()))]
        assert (part in OWN[name]) == bool(own)
        assert [one for one in whole[part] if one not in own] == names, part
