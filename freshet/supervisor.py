"""The whole service as one tree of processes, started and stopped together."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from hydrology.errors import Problem
from records import private
from records.parent import end_with_parent
from records.settings import Settings
from workers.broker import start_embedded
from workers.worker import GRACE

log = structlog.get_logger()

PATIENCE = GRACE + 20.0  # seconds that a process has to end by itself: a worker's job leaves off within its grace
MOST_RESTARTS = 5  # within a minute: a process that dies more often is broken


class ServiceProblem(Problem):
    """The service cannot be started, or a part of it keeps dying."""

    kind = "service"
    exit_code = 5


@dataclass
class Part:
    """One process of the service, and when it was started again."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes]
    restarts: list[float] = field(default_factory=list)


def commands(host: str, port: int, workers: int, training_workers: int) -> dict[str, list[str]]:
    """Return the command of each part of the service but the broker, by its name.

    Args:
        workers: how many run forecasts, evaluations and the like.
        training_workers: how many train members, each one at a time on one thread.
    """
    counts = {"default": workers, "ingest": 1, "training": training_workers, "delivery": 1}
    return {
        **{f"{queue} worker {n + 1}": ["worker", "--queue", queue] for queue in counts for n in range(counts[queue])},
        "scheduler": ["scheduler"],
        "api": ["api", "--host", host, "--port", str(port)],
    }


class Service:
    """Broker, workers, scheduler and API; the arguments are those of `commands`."""

    def __init__(self, settings: Settings, host: str, port: int, workers: int, training_workers: int) -> None:
        self.settings = settings
        self._broker: subprocess.Popen[bytes] | None = None
        self._parts: list[Part] = []
        self._stopping = False
        self._commands = commands(host, port, workers, training_workers)

    def run(self) -> None:
        """Start everything, keep it running, and stop everything on SIGTERM or SIGINT.

        Raises:
            ServiceProblem: another instance runs on this data folder, or a part keeps dying.
            BrokerProblem: the embedded broker does not start.
        """
        with _only_instance(self.settings):
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._stop)
            try:
                if self.settings.broker_url is None:
                    self._broker = start_embedded(self.settings)
                self._parts = [Part(name, parts, self._spawn(parts)) for name, parts in self._commands.items()]
                log.info("service.start", parts=[part.name for part in self._parts])
                while not self._stopping:
                    self._look_after()
                    time.sleep(0.2)
            finally:
                self._end_all()

    def _spawn(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        # A group of its own: Ctrl-C reaches the supervisor alone, which then stops the parts in order.
        return subprocess.Popen(
            [sys.executable, "-m", "freshet", *arguments],
            env=self._environment(),
            stdout=sys.stderr.fileno(),  # standard output is for answers
            process_group=0,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - there are no threads here
        )

    def _environment(self) -> dict[str, str]:
        """Return the environment of the parts: the settings of this process, whatever they came from."""
        chosen = {"FRESHET_DATA": str(self.settings.data), "FRESHET_DATABASE_URL": self.settings.database_url}
        return os.environ | chosen | {"FRESHET_LOG_LEVEL": self.settings.log_level}

    def _look_after(self) -> None:
        if self._broker is not None and self._broker.poll() is not None:
            log.error("service.broker_died", code=self._broker.returncode)
            self._broker = start_embedded(self.settings)
        for part in self._parts:
            code = part.process.poll()
            if code is None:
                continue
            log.error("service.part_died", part=part.name, code=code)
            now = time.monotonic()
            part.restarts = [*(at for at in part.restarts if now - at < 60), now]
            if len(part.restarts) > MOST_RESTARTS:
                raise ServiceProblem(
                    f"The {part.name} ended {len(part.restarts)} times in a minute: read its log above."
                )
            part.process = self._spawn(part.command)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _end_all(self) -> None:
        """End the API, scheduler and workers at once, then the broker, through which stopped jobs are sent again."""
        _end([part.process for part in self._parts])
        if self._broker is not None:
            _end([self._broker])
        log.info("service.stop")


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Tell processes to end, wait for them together, and kill those that do not."""
    last = time.monotonic() + PATIENCE
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, last - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _only_instance(settings: Settings) -> Iterator[None]:
    private.make_folder(settings.data)
    with open(settings.data / "service.lock", "a+", opener=private.opener) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ServiceProblem(
                f"A service runs on {settings.data} already (process {lock.read().strip() or 'unknown'}): stop it, or "
                "choose another FRESHET_DATA."
            ) from None
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        yield
