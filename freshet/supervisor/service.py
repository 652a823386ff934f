"""The whole service as one tree of processes, started, watched and stopped together."""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import IO

import structlog

from freshet.supervisor.supervised_process import MAX_SILENCE, SupervisedProcess, fork, load_parts
from hydrology.base.errors import Problem
from jobspec.jobs.base import GPU, SERVICE
from models.devices import CPU
from runtime import stored_files, watchdog
from runtime.child_processes import end_all
from runtime.settings import Settings
from runtime.watchdog import Restart, WatchdogSocket
from workers.job_processes.worker import GRACE
from workers.queue.broker import launch_embedded, lives, start_embedded

log = structlog.get_logger()

API = "api"
MAX_SERVICE_WORKERS = 4  # each takes 51 MB at rest
PATIENCE = GRACE + 20.0  # seconds that a process has to end by itself: a worker's job stops within its grace period
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_PINGS = 1.0
MAX_ABSENCE = 3.0  # seconds between two checks; after more, this process was itself suspended and received nothing


class ServiceProblem(Problem):
    """The service cannot be started."""

    kind = "service"
    exit_code = 5


def commands(
    host: str, port: int, workers: int, training_workers: int, *, cores: int = 1, device: str = CPU
) -> dict[str, list[str]]:
    """Return the command of each part of the service but the broker, by its name.

    As many workers as cores, up to MAX_SERVICE_WORKERS, take jobs of the queue `service` alone, so that none of them
    waits behind an operator's; the workers of the default queue take them too.

    Args:
        training_workers: number that train members, each one at a time on one thread.
        device: a GPU gets a worker of its own for trainings; those that forecast simulate on it.
    """
    of_service = min(cores, MAX_SERVICE_WORKERS)
    counts = {"service": of_service, "default": workers, "ingest": 1, "training": training_workers, "delivery": 1}
    on_cpu = ["--device", CPU]
    further = {"default": ["--queue", SERVICE], "ingest": on_cpu, "training": on_cpu, "delivery": on_cpu}
    return {
        **{
            f"{queue} worker {n + 1}": ["worker", "--queue", queue, *further.get(queue, [])]
            for queue, count in counts.items()
            for n in range(count)
        },
        **({} if device == CPU else {"gpu worker 1": ["worker", "--queue", GPU, "--device", device]}),
        "scheduler": ["scheduler"],
        API: ["api", "--host", host, "--port", str(port)],
    }


class Service:
    """Broker, workers, scheduler and API: each a command in `sys.argv` that `main` runs."""

    def __init__(
        self,
        main: Callable[[], None],
        settings: Settings,
        *,
        host: str,
        port: int,
        workers: int,
        training_workers: int,
        cores: int,
    ) -> None:
        self.settings = settings
        self._main = main
        self._broker: SupervisedProcess | None = None
        self._parts: list[SupervisedProcess] = []
        self._restarts: list[Restart] | None = None
        self._stopping = False
        self._commands = commands(host, port, workers, training_workers, cores=cores, device=settings.device)

    def run(self) -> None:
        """Start all parts, restart those that end, and stop all on SIGTERM or SIGINT."""
        with _only_instance(self.settings) as lock, closing(WatchdogSocket()) as ears:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._stop)
            load_parts()
            try:
                self._start(ears, lock)
                self._watch(ears)
            finally:
                watchdog.notify(watchdog.STOPPING)
                self._end_all()

    def _start(self, ears: WatchdogSocket, lock: IO[str]) -> None:
        now = time.monotonic()
        if self.settings.broker_url is None:
            launch = partial(launch_embedded, self.settings)
            self._broker = SupervisedProcess("broker", launch, start_embedded(self.settings), now)
        for name, arguments in self._commands.items():
            start = partial(fork, self._main, arguments, self._environment(ears), [ears.close, lock.close])
            self._parts.append(SupervisedProcess(name, start, start(), now))
        log.info("service.start", parts=[part.name for part in self._parts])

    def _environment(self, ears: WatchdogSocket) -> dict[str, str]:
        """Return the environment of the parts, with this process's settings whatever their origin."""
        inherited = {name: value for name, value in os.environ.items() if name != "WATCHDOG_PID"}
        chosen = {"FRESHET_DATA": str(self.settings.data), "FRESHET_DATABASE_URL": self.settings.database_url}
        watch = {"NOTIFY_SOCKET": ears.address, "WATCHDOG_USEC": f"{MAX_SILENCE * 1e6:.0f}"}
        return inherited | chosen | watch | {"FRESHET_LOG_LEVEL": self.settings.log_level}

    def _watch(self, ears: WatchdogSocket) -> None:
        looked_at = pinged_at = time.monotonic()
        is_ready = False
        while not self._stopping:
            now, processes = time.monotonic(), ears.received_pids()
            everything = [*self._parts, *([self._broker] if self._broker else [])]
            for part in everything:
                if part.process.pid in processes:
                    part.beat(now)
                elif now - looked_at > MAX_ABSENCE:
                    part.reset_deadline(now)
            if self._broker is not None and now - pinged_at > SECONDS_BETWEEN_PINGS:
                pinged_at = now
                if lives(self.settings):
                    self._broker.beat(now)
            for part in everything:
                part.check(now)
            self._write_restarts([part.restart for part in everything])
            if not is_ready and any(part.name == API and part.lives for part in self._parts):
                is_ready = True
                watchdog.notify(watchdog.READY)
            watchdog.notify(watchdog.LIVES)
            looked_at = now
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _write_restarts(self, of_parts: Sequence[Restart | None]) -> None:
        shown = [restart for restart in of_parts if restart is not None]
        if shown != self._restarts:
            with suppress(OSError):  # no room on the disk
                watchdog.store_restarts(self.settings.data, shown)
                self._restarts = shown

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _end_all(self) -> None:
        """End the API, scheduler and workers at once, then the broker, through which stopped jobs are sent again."""
        end_all([part.process for part in self._parts], PATIENCE)
        if self._broker is not None:
            end_all([self._broker.process], PATIENCE)
        log.info("service.stop")


@contextmanager
def _only_instance(settings: Settings) -> Iterator[IO[str]]:
    stored_files.make_folder(settings.data)
    with open(settings.data / "service.lock", "a+", opener=stored_files.opener) as lock:
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
        yield lock
