"""The main job on synthetic basins, through the whole service: jobs posted over REST, watched, forecasts read back."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from app.jobs.schemas import Job
from freshet.client import Client, ServiceError
from freshet.client.problems import Unreachable
from freshet.supervisor.supervised_process import HUNG, REPORT_AFTER_ENDS
from ingestion.sources import synthetic
from jobspec.jobs.forecasting import ISSUE_TIME
from jobspec.network import sized
from records.access import audit, keys
from records.database.engine import Database
from runtime import child_processes, private_files, restart_notes
from runtime.child_processes import Process
from runtime.clock import Clock
from runtime.settings import Settings

# The synthetic record is 1996-10-01..2008-09-30.
TRAINING = {
    "inputs": {"product": synthetic.PRODUCT},
    "train_period": "1998-10-01..2005-09-30",
    "validation_period": "2005-10-01..2006-09-30",
    "windows": {"spinup_days": 180, "loss_days": 365, "batch": 16},
    "schedule": {"kind": "cosine", "steps": 150, "peak_learning_rate": 0.02, "warmup_steps": 10},
    "validate_every": 50,
    "members": 3,
}
AS_OF = datetime(2008, 9, 20, 15, tzinfo=UTC)
"""The demonstration's clock, near the end of that record: 10 days of weather remain to perturb."""
HELD_OUT = "2006-10-01..2008-09-30"
HORIZON = 10
ISSUE_DAYS = 7
"""Number of issue days to replay; the last is the clock's day."""
LOG = "service.log"
"""In the data folder: what the service writes to its standard error."""
SECONDS_BETWEEN_LOOKS = 0.2


class Show(Protocol):
    """Shows the progress of a piece of work."""

    def __call__(self, what: str, done: int, total: int, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """The results of the main job.

    Attributes:
        skill: the evaluation job's result on the held-out years.
        forecasts: the latest forecast of every basin, as the API returns it (mm/day).
        status: of the service.
    """

    skill: dict[str, Any]
    forecasts: dict[str, Any]
    status: dict[str, Any]


@contextmanager
def service(settings: Settings, host: str, port: int) -> Iterator[Process]:
    """Run the whole service as a process, and stop it at the end."""
    environment = os.environ | {"FRESHET_DATA": str(settings.data), "FRESHET_DATABASE_URL": settings.database_url}
    environment.pop("FRESHET_INGEST_ROOTS", None)  # the synthetic basins lie in the default folder
    if settings.as_of is not None:
        environment["FRESHET_AS_OF"] = settings.as_of.isoformat()
    command = child_processes.python_command("freshet", "serve", "--host", host, "--port", str(port))
    log = settings.data / LOG
    private_files.make_folder(log.parent)
    with open(log, "ab", opener=private_files.opener) as output:
        process = child_processes.start(
            command, environment=environment, log=output, own_group=False, dies_by=signal.SIGTERM
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def demonstrate(
    settings: Settings, process: Process, address: str, show: Show, *, architecture: str | None, pretrained: str | None
) -> Demonstrated:
    """Do the main job over REST. What is already done is not done again.

    Args:
        architecture: of the network that is trained, where none is shipped.
        pretrained: the shipped ensemble that is installed; None where one is trained.

    Raises:
        ServiceError: a part of the service has died, or it refuses something.
        DataProblem: a job failed.
    """
    files = settings.ingest_roots[0] / "synthetic-camels"
    synthetic.write(files)
    with Client(address, _token(settings)) as client:
        work = Work(client, partial(require_alive, process, settings.data), show)
        work.await_service(address)
        work.do("ingest", {"from": [str(files)]})
        basins = [basin.id for basin in client.basins()]
        if pretrained is not None:
            created = work.do("pretrained", {"name": pretrained, "product": synthetic.PRODUCT, "promote": True})
        else:
            assert architecture is not None
            config = TRAINING | {"network": sized(architecture, 16)}
            created = work.do("training", {"config": config, "basins": basins, "label": "demo"})
            work.do("calibration", {"version": created["version"]})
        skill = work.do("evaluation", {"period": HELD_OUT, "version": created["version"], "basins": basins})
        work.do("replay", {"period": _issue_days(settings), "horizon": HORIZON})
        work.do("volumes", {"basins": basins})
        work.do("levels", {"basins": basins})
        forecasts = client.get("/v1/forecasts", basins=",".join(basins), units="mm/day")
        return Demonstrated(skill, forecasts, client.get("/v1/status"))


def _issue_days(settings: Settings) -> str:
    """Return the period of the last issue days by the clock."""
    now = Clock(settings.as_of).now()
    last = now.date() if now.timetz() >= ISSUE_TIME else now.date() - timedelta(days=1)
    return f"{last - timedelta(days=ISSUE_DAYS - 1)}..{last}"


def _token(settings: Settings) -> str:
    """Create a key for this demonstration alone."""
    database, clock = Database(settings.database_url), Clock()
    try:
        with database.transaction() as session:
            key, token = keys.make(session, "demo", "admin", None, clock.wall())
            audit.record(session, audit.command_line(), "key created", key.id, clock.wall(), name=key.name)
            return token
    finally:
        database.close()


def require_alive(process: Process, data: Path) -> str:
    """Return which parts of the service are being restarted, in words; empty if none.

    Raises:
        ServiceError: the service has ended, or a part of it ends repeatedly.
    """
    where = f"its log is {data / LOG}"
    if (code := process.poll()) is not None:
        raise ServiceError(f"The service {child_processes.exit_in_words(code)}; {where}.")
    restarting = restart_notes.load(data, process.pid)
    for part in restarting:
        if part.times >= REPORT_AFTER_ENDS and part.cause != HUNG:
            raise ServiceError(
                f"The {part.part} of the service ends repeatedly: it {part.cause}, {part.times} times since "
                f"{part.since:%H:%M:%S} UTC; {where}."
            )
    return ", ".join(f"the {part.part} {part.cause}" for part in restarting)


class Work:
    """Runs the demonstration's jobs one after another, as long as the service is alive.

    Args:
        alive: returns the parts that are being restarted, and raises if the service has died.
    """

    def __init__(self, client: Client, alive: Callable[[], str], show: Show) -> None:
        self._client, self._alive, self._show = client, alive, show

    def await_service(self, address: str) -> None:
        """Wait until the service answers."""
        started = time.monotonic()
        while not self._client.ready():
            hindered = self._alive()
            waited = f"waiting for the API at {address}, {time.monotonic() - started:.0f} s"
            self._show("start of the service", 0, 1, f"{waited}{hindered and f'; {hindered}'}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        self._show("start of the service", 1, 1, "it answers")

    def do(self, kind: str, params: dict[str, Any]) -> dict[str, Any]:
        """Post a job, show its progress, and return its result.

        Raises:
            ServiceError: the service has died, or refuses the job.
            DataProblem: the job failed.
        """
        job = self._client.post_job(kind, params).id
        while True:
            try:
                result = self._client.watch(job, self._look).result
                break
            except Unreachable:  # slow, or its API is being started again
                self._show(kind, 0, 1, "waiting for the API" + (f": {hindered}" if (hindered := self._alive()) else ""))
        assert result is not None
        self._show(kind, 1, 1, "done")
        return result

    def _look(self, job: Job) -> None:
        hindered = self._alive()
        training = job.kind == "training"
        parts = list(self._client.jobs(parent=job.id)) if training else [job]
        for part in parts:
            if part.progress is not None:
                member = (part.params or {}).get("member")
                name = job.kind if member is None else f"member {member}"
                self._show(name, part.progress.done, part.progress.total, part.progress.detail or "")
        if job.status in ("queued", "running") and not any(part.progress for part in parts):
            self._show(job.kind, 0, 1, hindered or f"{job.status}: waiting for its worker")
