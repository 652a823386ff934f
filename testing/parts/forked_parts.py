"""Parts of the service as forks of one process that has loaded what they need, as those of `freshet serve` are.

A part that is started by itself computes for one to three seconds before it does anything.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from setproctitle import setproctitle

from runtime.child_processes import Signalled, end_with_parent

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["testing.parts.loaded_parts"])


class ForkedPart(Signalled):
    """A module that runs as a program, with the needed part of the interface of `subprocess.Popen`.

    Args:
        log: receives its output and its errors, after what is there.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], *, environment: Mapping[str, str], log: Path, folder: Path
    ) -> None:
        what = (module, arguments, dict(environment), log, folder)
        self._process = _CONTEXT.Process(target=_run, args=what, daemon=True)  # it ends with this process
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("freshet", timeout or 0.0)
        return code


def _run(module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path) -> None:
    end_with_parent()
    sys.argv = [module, *arguments]
    setproctitle(" ".join(sys.argv))  # before the environment is another: it finds its room beside it
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with log.open("ab") as output:
        os.dup2(output.fileno(), sys.stdout.fileno())
        os.dup2(output.fileno(), sys.stderr.fileno())
    runpy.run_module(module, run_name="__main__", alter_sys=True)
