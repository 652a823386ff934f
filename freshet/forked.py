"""The parts of the service as forks of its supervisor: what all of them load is loaded once, and its memory shared."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing import get_context
from typing import Protocol

from setproctitle import setproctitle

from records.parent import end_with_parent

_LOADED = (
    "app.main",
    "app.server",
    "freshet.cli.parts",
    "workers.processes",
    # What Celery and kombu load only when a worker starts.
    "celery.apps.worker",
    "kombu.transport.redis",
    "workers.consumer",
)
_ENDING = (signal.SIGTERM, signal.SIGINT)


class Closable(Protocol):
    """Something of the supervisor's that its parts must not hold on to."""

    def close(self) -> None:
        """Let go of it."""


def load() -> None:
    """Load what the parts need, before the first of them is forked."""
    for module in _LOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # a collection in a part would write to all that is shared, and so copy it


class Forked:
    """A fork that runs a command of `freshet`, with as much of the face of `subprocess.Popen` as a part needs.

    Args:
        arguments: the command.
        environment: of the command.
        closed: what it does not inherit.

    Raises:
        OSError: there is no room for another process.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], closed: Sequence[Closable]) -> None:
        self._process = get_context("fork").Process(target=_run, args=(arguments, environment, closed))
        # A signal between the fork and the command would go to the supervisor's handler, and be lost.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code when it ends.

        Raises:
            subprocess.TimeoutExpired: it does not within these seconds.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired("freshet", timeout)
        return self._process.exitcode

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()


def _run(arguments: Sequence[str], environment: Mapping[str, str], closed: Sequence[Closable]) -> None:
    end_with_parent()
    os.setpgid(0, 0)  # a group of its own: Ctrl-C reaches the supervisor alone, which then stops the parts in order
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    for inherited in closed:
        inherited.close()
    sys.argv = ["freshet", *arguments]
    setproctitle(" ".join(sys.argv))  # before the environment is another: it finds its room beside it
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(sys.stderr.fileno(), 1)  # standard output is for answers
    from freshet.cli.main import main

    main()
