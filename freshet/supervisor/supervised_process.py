"""A part of the service: a process that is watched, and started again when it ends or hangs.

Most are forks of the supervisor, which share the memory of the modules loaded before. That is safe as long as the
supervisor has no threads of Python's and has not loaded torch.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import import_module

import structlog
from setproctitle import setproctitle

from runtime.child_processes import Fork, Process, end_with_parent, exit_in_words
from runtime.clock import Clock
from runtime.watchdog import Restart

log = structlog.get_logger()

MAX_SILENCE = 8.0  # seconds without a heartbeat; then the process counts as hung
REPORT_AFTER_SILENCE = 4.0  # seconds without a heartbeat, after which the process is reported
MAX_START = 60.0  # seconds until the first heartbeat; doubled at each further start, for slow machines
MAX_DOUBLINGS = 4
MAX_WAIT = 8.0  # seconds between two starts of a process that ends repeatedly
REPORT_AFTER_ENDS = 3
"""After this many consecutive exits a running process is still reported, until it has run twice as long as before."""
HUNG = "hung and was killed"
STEADY = 60.0  # seconds of running after which former exits are forgotten


class SupervisedProcess:
    """One process of the service, started by `start`. Every `now` is of a monotonic clock, in seconds."""

    def __init__(self, name: str, start: Callable[[], Process], first: Process, now: float) -> None:
        self.name, self._start = name, start
        self._clock = Clock()
        self._ends = 0
        self._max_life = 0.0  # since the first exit
        self._outlived = False
        self._ended_at: datetime | None = None
        self._silent_from: datetime | None = None
        self._cause = ""
        self._start_again_at: float | None = None
        self._lives = self._hung = False
        self._begin(first, now)

    def beat(self, now: float) -> None:
        self._sign_at, self._lives, self._silent_from = now, True, None

    def reset_deadline(self, now: float) -> None:
        """Restart the wait for a heartbeat, since none could be received."""
        self._sign_at, self._silent_from = now, None

    def check(self, now: float) -> None:
        """Kill the process if it hangs, and restart it if it has ended, after a wait if it ends repeatedly."""
        if self._start_again_at is not None:
            if now >= self._start_again_at:
                self._begin_again(now)
        elif (code := self.process.poll()) is not None:
            self._end(HUNG if self._hung else exit_in_words(code), now)
        elif now - self._sign_at > (MAX_SILENCE if self._lives else self._max_start):
            self._hung = True
            self.process.kill()
        elif self._lives and now - self._sign_at > REPORT_AFTER_SILENCE:
            self._silent_from = self._silent_from or self._clock.wall()
        elif self._lives and now - self._started_at > STEADY:
            self._ends, self._ended_at, self._max_life = 0, None, 0.0
        else:
            self._outlived = now - self._started_at > 2 * self._max_life

    @property
    def lives(self) -> bool:
        """Whether it runs and has sent a heartbeat."""
        return self._lives and self._start_again_at is None

    @property
    def restart(self) -> Restart | None:
        """The report on it, if it is silent, not yet running again, or has ended repeatedly of late."""
        if self._silent_from is not None:
            return Restart(self.name, "gives no sign of life", 0, self._silent_from)
        if self._ended_at is None or (self.lives and (self._ends < REPORT_AFTER_ENDS or self._outlived)):
            return None
        return Restart(self.name, self._cause, self._ends, self._ended_at)

    @property
    def _max_start(self) -> float:
        return MAX_START * 2.0 ** min(self._ends, MAX_DOUBLINGS)

    def _begin(self, process: Process, now: float) -> None:
        self.process = process
        self._started_at = self._sign_at = now
        self._lives = self._hung = self._outlived = False
        self._silent_from = None
        self._start_again_at = None

    def _begin_again(self, now: float) -> None:
        try:
            self._begin(self._start(), now)
        except OSError as error:  # no memory, no process ids, no room for its log
            self._started_at = now
            self._end(f"could not be started ({error})", now)

    def _end(self, cause: str, now: float) -> None:
        if self._ends:
            self._max_life = max(self._max_life, now - self._started_at)
        self._ends += 1
        self._silent_from = None
        self._ended_at, self._cause = self._ended_at or self._clock.wall(), cause
        wait = 0.0 if self._ends == 1 else min(MAX_WAIT, 2.0 ** (self._ends - 2))
        self._start_again_at = now + wait
        log.error("service.part_died", part=self.name, cause=self._cause, times=self._ends, again_in_seconds=wait)


_LOADED = (
    "app.main",
    "app.http.server",
    "freshet.commands.serve",
    "workers.processes",
    # What Celery and kombu load only when a worker starts.
    "celery.apps.worker",
    "kombu.transport.redis",
)


def load_parts() -> None:
    """Load what the parts need, before the first of them is forked."""
    for module in _LOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # a collection in a part would write to all that is shared, and so copy it


def fork(
    main: Callable[[], None],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    inherited: Sequence[Callable[[], None]],
) -> Fork:
    """Start a command of `freshet` in a fork, which first closes what it must not inherit by the functions given."""
    supervisor = os.getpid()

    def run() -> None:
        end_with_parent(parent=supervisor)
        os.setpgid(0, 0)  # Ctrl-C reaches the supervisor alone, which then stops the parts in order
        for close in inherited:
            close()
        sys.argv = ["freshet", *arguments]
        setproctitle(" ".join(sys.argv))  # before the environment is another: it finds its room beside it
        os.environ.clear()
        os.environ.update(environment)
        os.dup2(sys.stderr.fileno(), 1)  # standard output is for answers
        main()

    return Fork(run, (signal.SIGTERM, signal.SIGINT))
