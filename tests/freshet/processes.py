"""The command line as a process of its own, where a signal or a port matters."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.freshet.conftest import environment


def _interruptible() -> None:
    """Let the process be interrupted even where its parents are not (a job in the background of a script)."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(data: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and see to it that it does not outlive the test."""
    command = shutil.which("freshet", path=Path(sys.executable).parent)
    assert command is not None, "install the project: pip install -e ."
    with subprocess.Popen(
        [command, *arguments],
        env=os.environ | environment(data) | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,  # noqa: PLW1509 - pytest has no other threads here
    ) as process:
        try:
            yield process
        finally:
            process.kill()
