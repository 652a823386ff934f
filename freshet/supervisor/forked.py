"""Runs the parts of the service as forks of the supervisor, which share the memory of the modules loaded before.

That is safe as long as the supervisor has no threads of Python's and has not loaded torch.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol

from setproctitle import setproctitle

from runtime.child_processes import Fork, end_with_parent

_LOADED = (
    "app.main",
    "app.http.server",
    "freshet.commands.serve",
    "workers.processes",
    # What Celery and kombu load only when a worker starts.
    "celery.apps.worker",
    "kombu.transport.redis",
    "workers.queue.consumer",
)


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


def fork(
    main: Callable[[], None], arguments: Sequence[str], environment: Mapping[str, str], closed: Sequence[Closable]
) -> Fork:
    """Start a command of `freshet` in a fork without the resources `closed`."""
    supervisor = os.getpid()

    def run() -> None:
        end_with_parent(parent=supervisor)
        os.setpgid(0, 0)  # Ctrl-C reaches the supervisor alone, which then stops the parts in order
        for inherited in closed:
            inherited.close()
        sys.argv = ["freshet", *arguments]
        setproctitle(" ".join(sys.argv))  # before the environment is another: it finds its room beside it
        os.environ.clear()
        os.environ.update(environment)
        os.dup2(sys.stderr.fileno(), 1)  # standard output is for answers
        main()

    return Fork(run, (signal.SIGTERM, signal.SIGINT))
