"""What services with some of the extensions have.

python -m tests.extensions.parts '[[DATA-FOLDER, [EXTENSION, ...]], ...]'

prints a line of JSON for each service, whose folder holds a new database. Libraries, and modules of the core that ask
for no extension, are loaded once: each service is a fork of that process.
"""

import gc
import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fastapi.openapi.utils  # noqa: F401 - for the forks, like each that is not used here
import torch  # noqa: F401
from starlette.testclient import TestClient

import models.ensemble  # noqa: F401
import workers.queue.broker  # noqa: F401
from hydrology.base.errors import InvalidInput
from jobspec.extensions import SETTING, extensions
from records.access import keys
from records.alerts import subscriptions
from records.database.engine import Database
from runtime.process import log_to_stderr
from runtime.settings import Settings

DATABASE = "freshet.sqlite"


def parts() -> dict[str, Any]:
    """Return the parts of the service that the environment describes, by what they are parts of."""
    from app.main import create_app
    from freshet.cli.commands import commands
    from jobspec.feed_kinds import FEED_KINDS
    from jobspec.jobs.data import SOURCES
    from jobspec.kinds import KINDS
    from jobspec.subscriptions import NewSubscription
    from models.devices import gpu_programs
    from workers.tasks import HANDLERS

    settings = Settings.load(broker_url="memory://")
    database = Database(settings.database_url)
    with database.transaction() as session:
        key, token = keys.make(session, "river office", "admin", None, datetime.now(UTC))
        subscriptions.create(session, NewSubscription(email="a@rivers.example"), key.id, datetime.now(UTC), settings)
    database.close()
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        document = client.get("/openapi.json").raise_for_status().json()
        authorized = {"Authorization": f"Bearer {token}"}
        (receiver,) = client.get("/v1/subscriptions", headers=authorized).json()["subscriptions"]
        feeds = [receiver["feed"]] if receiver["feed"] else []
        assert feeds or "cap" in receiver["missing"]["feed"]
        assert bool(feeds) == ("Atom feed" in client.get("/alerts").text)
        guide = sorted(re.findall(r'href="/guide/([a-z-]+)"', client.get("/guide").text))
        pages = [client.get(path).status_code for path in ("/", "/alerts", "/guide", "/health/ready")]
    assert KINDS.keys() == HANDLERS.keys()
    _require_errors_that_name_the_missing(settings)
    return {
        "paths": list(document["paths"]),
        "tags": [tag["name"] for tag in document["tags"]],
        "kinds": list(KINDS),
        "commands": list(commands()),
        "pages": pages,
        "guide": guide,
        "feeds": feeds,
        "programs": [] if gpu_programs() is None else ["gpu"],
        "adapters": list(FEED_KINDS),
        "sources": list(SOURCES),
    }


def _require_errors_that_name_the_missing(settings: Settings) -> None:
    """Require that an error names an extension exactly where it is not there."""
    from freshet.cli.job_command import take_device
    from freshet.commands.feeds import start_feeds
    from jobspec.feed_kinds import FEED_KINDS, USUAL, usual_left_out
    from models.devices import gpu_programs

    assert ("extension gpu" in _refusal(take_device, settings, "cuda:98")) == (gpu_programs() is None)
    assert ("flow (extension usgs)" in usual_left_out()) == ("usgs" not in FEED_KINDS)
    assert USUAL or _refusal(start_feeds, "2020-01-01") == usual_left_out()


def _refusal(function: Callable[..., object], *arguments: object) -> str:
    """Return the error of a call that must fail."""
    try:
        function(*arguments)
    except InvalidInput as problem:
        return str(problem)
    raise AssertionError(f"{function.__name__} has accepted {arguments}")


if __name__ == "__main__":
    assert extensions.cache_info().currsize == 0, "what is loaded here asks for extensions: each fork chooses its own"
    log_to_stderr("error")
    gc.disable()  # a fork ends before there is much garbage
    for data, chosen in json.loads(sys.argv[1]):
        if (service := os.fork()) == 0:
            url = f"sqlite:///{Path(data) / DATABASE}"
            os.environ |= {SETTING: ",".join(chosen), "FRESHET_DATA": data, "FRESHET_DATABASE_URL": url}
            print(json.dumps(parts()))  # noqa: T201
            break
        assert os.waitstatus_to_exitcode(os.waitpid(service, 0)[1]) == 0, chosen
