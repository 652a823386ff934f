"""The main job on eight real rivers, through the whole service: jobs posted over REST, watched, forecasts read back.

The rivers' archive and its sources are beside this file. The clock stands three days before the Naselle River's highest
day of ten years, in a winter of much snow.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from freshet.supervisor.supervised_process import HUNG, REPORT_AFTER_ENDS
from freshet_client import Client, JobFailed, ServiceError, Unreachable
from freshet_client.models import Job
from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem, Problem
from records.access import audit, keys
from records.database.engine import Database
from runtime import child_processes, stored_files, watchdog
from runtime.child_processes import Process
from runtime.clock import Clock
from runtime.settings import Settings

LOG = "service.log"
"""In the data folder: what the service writes to its standard error."""
SECONDS_BETWEEN_LOOKS = 0.2
WORKERS = ("--workers", "2", "--training-workers", "1")
"""Two, as jobs run beside each other; and one for whoever goes on to train."""


class ServiceFailed(Problem):
    """The demonstration's service has ended, does not answer, or refuses something."""

    kind = "service-error"
    exit_code = 5


Show = Callable[[str, int, int, str], None]
"""Shows the progress of a piece of work: what, the part that is done, the whole, and a detail."""


@contextmanager
def client_errors_as_problems() -> Iterator[None]:
    """Raise the errors of the client as problems, which end a command with a sentence."""
    try:
        yield
    except JobFailed as error:
        raise DataProblem(str(error)) from error
    except ServiceError as error:
        raise ServiceFailed(str(error)) from error


@contextmanager
def service(settings: Settings, host: str, port: int) -> Iterator[Process]:
    """Run the whole service as a process, and stop it at the end."""
    environment = os.environ | {"FRESHET_DATA": str(settings.data), "FRESHET_DATABASE_URL": settings.database_url}
    for name in ("FRESHET_INGEST_ROOTS", "FRESHET_PRETRAINED"):  # archive and ensemble lie in the default folders
        environment.pop(name, None)
    if settings.as_of is not None:
        environment["FRESHET_AS_OF"] = settings.as_of.isoformat()
    listening = ("--host", host, "--port", str(port))
    command = child_processes.python_command("freshet", "serve", *listening, *WORKERS)
    log = settings.data / LOG
    stored_files.make_folder(log.parent)
    with open(log, "ab", opener=stored_files.opener) as output:
        process = child_processes.start(
            command, environment=environment, log=output, own_group=False, dies_by=signal.SIGTERM
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def new_token(settings: Settings) -> str:
    """Create a key for this demonstration alone."""
    now = Clock().wall()
    with closing(Database(settings.database_url)) as database, database.transaction() as session:
        key, token = keys.make(session, "demo", "admin", None, now)
        audit.record(session, audit.command_line(), "key created", key.id, now, name=key.name)
        return token


def require_alive(process: Process, data: Path) -> str:
    """Return which parts are being restarted. Raise if the service has ended, or a part ends repeatedly."""
    where = f"its log is {data / LOG}"
    if (code := process.poll()) is not None:
        raise ServiceFailed(f"The service {child_processes.exit_in_words(code)}; {where}.")
    restarting = watchdog.load_restarts(data, process.pid)
    for part in restarting:
        if part.times >= REPORT_AFTER_ENDS and part.cause != HUNG:
            raise ServiceFailed(
                f"The {part.part} of the service ends repeatedly: it {part.cause}, {part.times} times since "
                f"{part.since:%H:%M:%S} UTC; {where}."
            )
    return ", ".join(f"the {part.part} {part.cause}" for part in restarting)


class Work:
    """Runs the demonstration's jobs one after another, as long as the service is alive."""

    def __init__(self, client: Client, alive: Callable[[], str], show: Show) -> None:
        self._client, self._alive, self._show = client, alive, show

    def await_service(self, address: str) -> None:
        """Wait until the service answers."""
        started = time.monotonic()
        while not self._client.is_ready():
            hindered = self._alive()
            waited = f"waiting for the API at {address}, {time.monotonic() - started:.0f} s"
            self._show("start of the service", 0, 1, f"{waited}{hindered and f'; {hindered}'}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        self._show("start of the service", 1, 1, "it answers")

    def do(self, kind: str, params: dict[str, Any]) -> dict[str, Any]:
        """Post a job, show its progress, and return its result, as `result`."""
        return self.result(self.post(kind, params))

    def post(self, kind: str, params: dict[str, Any]) -> Job:
        return self._client.post_job({"kind": kind, "params": params})

    def result(self, job: Job) -> dict[str, Any]:
        """Show the progress of a job until it has ended, and return its result."""
        while True:
            try:
                result = self._client.wait_for_job(job.id, self._look).result
                break
            except Unreachable:  # slow, or its API is being started again
                waiting = "waiting for the API" + (f": {hindered}" if (hindered := self._alive()) else "")
                self._show(job.kind, 0, 1, waiting)
        assert result is not None
        self._show(job.kind, 1, 1, "done")
        return result

    def _look(self, job: Job) -> None:
        hindered = self._alive()
        if job.progress is not None:
            self._show(job.kind, job.progress.done, job.progress.total, job.progress.detail or "")
        elif job.status in ("queued", "running"):
            self._show(job.kind, 0, 1, hindered or f"{job.status}: waiting for its worker")


ARCHIVE = Path(__file__).parent / "eight_rivers.zip"
RIVERS = ("01022500", "01031500", "03439000", "06409000", "09081600", "10234500", "12010000", "13235000")
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
