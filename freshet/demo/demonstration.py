"""The main job on eight real rivers, through the whole service: jobs posted over REST, watched, forecasts read back.

The rivers' archive and its sources are beside this file. The clock stands three days before the Naselle River's highest
day of ten years, in a winter of much snow.
"""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from freshet.demo.work import Show, Work, client_errors_as_problems, new_token, require_alive
from freshet.demo.write_archive import ARCHIVE, RIVERS
from freshet_client import Client
from hydrology.base.basins import basin_id
from runtime import stored_files
from runtime.child_processes import Process
from runtime.settings import Settings

ENSEMBLE = "freshet-us"
BASINS = tuple(map(basin_id, RIVERS))
AS_OF = datetime(1997, 3, 16, 15, tzinfo=UTC)
"""The demonstration's clock: the hour after the last replayed forecasts are issued."""
EARLIER_DAYS, LAST_DAY = "1997-03-05..1997-03-15", "1997-03-16..1997-03-16"
"""The issue days. The last one's forecasts hold the normal snow, which is computed beside the earlier ones."""
HELD_OUT = "1989-10-01..1996-09-30"
"""Water years that the scored twin has not learnt from, all before the clock."""
HORIZON = 10
TRACES = 31
FLOODED = "USGS-12010000"
"""The Naselle River near Naselle, Washington."""


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """The results of the main job; `rivers` has the API's `name`, `forecast`, `outlook` and `nse` by basin."""

    skill: dict[str, Any]
    rivers: dict[str, dict[str, Any]]
    alerts: list[dict[str, Any]]
    changes: dict[str, Any]
    status: dict[str, Any]


def demonstrate(settings: Settings, process: Process, address: str, show: Show) -> Demonstrated:
    """Do the main job over REST. What is already done is not done again."""
    incoming = settings.ingest_roots[0]
    stored_files.make_folder(incoming)
    archive = shutil.copyfile(ARCHIVE, incoming / ARCHIVE.name)
    with client_errors_as_problems(), Client(address, new_token(settings)) as client:
        work = Work(client, partial(require_alive, process, settings.data), show)
        work.await_service(address)
        work.do("ingest", {"from": [str(archive)]})
        ensemble = work.do("pretrained", {"name": ENSEMBLE, "promote": True})
        earlier = work.post("replay", _replay(EARLIER_DAYS))
        levels = [work.post("levels", {"version": part, "basins": BASINS}) for part in ensemble["parts"]]
        evaluation = work.post("evaluation", {"period": HELD_OUT, "version": ensemble["version"], "basins": BASINS})
        for job in (earlier, *levels):
            work.result(job)
        volumes = work.post("volumes", {"basins": BASINS})
        work.do("replay", _replay(LAST_DAY))
        work.result(volumes)
        return _read(client, work.result(evaluation))


def _replay(issue_days: str) -> dict[str, Any]:
    return {"period": issue_days, "horizon": HORIZON, "traces": TRACES}


def _read(client: Client, skill: dict[str, Any]) -> Demonstrated:
    forecasts = client.get("/v1/forecasts", basins=",".join(BASINS))["forecasts"]
    rivers = {
        basin: {
            "name": client.get(f"/v1/basins/{basin}")["name"],
            "forecast": forecast,
            "outlook": client.get(f"/v1/basins/{basin}/outlook"),
            "nse": _nse(client.get(f"/v1/basins/{basin}/skill", metric="nse")),
        }
        for basin, forecast in zip(BASINS, forecasts, strict=True)
    }
    return Demonstrated(
        skill=skill,
        rivers=rivers,
        alerts=client.get("/v1/alerts")["alerts"],
        changes=client.get(f"/v1/basins/{FLOODED}/forecasts/latest/changes"),
        status=client.get("/v1/status"),
    )


def _nse(skill: dict[str, Any]) -> float | None:
    period = dict(zip(("first_day", "last_day"), HELD_OUT.split(".."), strict=True))
    values = (one["value"] for one in skill["scores"] if (one["member"], one["period"]) == ("mean", period))
    nse: float | None = next(values, None)
    return nse
