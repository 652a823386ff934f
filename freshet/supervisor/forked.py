"""Runs the parts of the service as forks of the supervisor, which share the memory of the modules loaded before.

`subprocess` does not fork without another program, and `multiprocessing` hands each fork the pipes of those before it,
and leaks its own pipes where a fork fails. A fork is safe as long as the supervisor has no threads of
Python's and has not loaded torch.
"""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NoReturn, Protocol

from setproctitle import setproctitle

from runtime.parent_process import end_with_parent

_LOADED = (
    "app.main",
    "app.http.server",
    "freshet.cli.service.parts",
    "workers.processes",
    # What Celery and kombu load only when a worker starts.
    "celery.apps.worker",
    "kombu.transport.redis",
    "workers.queue.consumer",
)
_ENDING = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.05  # between two looks at whether a process has ended


class Closable(Protocol):
    """A resource of the supervisor that its parts must not inherit."""

    def close(self) -> None:
        """Release it."""


def load() -> None:
    """Load what the parts need, before the first of them is forked."""
    for module in _LOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # a collection in a part would write to all that is shared, and so copy it


class Forked:
    """A fork that runs a command of `freshet`, with the part of the interface of `subprocess.Popen` that is needed.

    Args:
        main: runs the command named in `sys.argv`.
        arguments: the command.
        environment: of the command.
        closed: resources that it does not inherit.

    Raises:
        OSError: there is no room for another process.
    """

    def __init__(
        self,
        main: Callable[[], None],
        arguments: Sequence[str],
        environment: Mapping[str, str],
        closed: Sequence[Closable],
    ) -> None:
        self._code: int | None = None
        supervisor = os.getpid()
        # A signal between the fork and the command would go to the supervisor's handler, and be lost.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _run(main, arguments, environment, closed, supervisor)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""
        if self._code is None:
            try:
                process, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # SIGCHLD is ignored for us: the exit status is lost
                self._code = 0
            else:
                self._code = os.waitstatus_to_exitcode(status) if process else None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code when it ends.

        Raises:
            subprocess.TimeoutExpired: it does not within these seconds.
        """
        started = time.monotonic()
        while (code := self.poll()) is None:
            if timeout is not None and time.monotonic() - started > timeout:
                raise subprocess.TimeoutExpired("freshet", timeout)
            time.sleep(_LOOK_SECONDS)
        return code

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _run(
    main: Callable[[], None],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    closed: Sequence[Closable],
    supervisor: int,
) -> NoReturn:
    """Run a command in a fork, and end it with its exit code, whatever happens."""
    code = 1
    try:
        _become_part(arguments, environment, closed, supervisor)
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as where a program ends by an error
        sys.excepthook(*sys.exc_info())
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # though the disk of the log is full: it must not go on as a second supervisor
            os._exit(code)


def _become_part(
    arguments: Sequence[str], environment: Mapping[str, str], closed: Sequence[Closable], supervisor: int
) -> None:
    """Drop the supervisor's process group, handlers, files, name and environment."""
    end_with_parent()
    if os.getppid() != supervisor:  # it died before `end_with_parent`
        os._exit(1)
    os.setpgid(0, 0)  # Ctrl-C reaches the supervisor alone, which then stops the parts in order
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
