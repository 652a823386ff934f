"""A child process that writes a line that is not a message, and a worker that starts such children."""

import sys
import time

from jobspec.jobs.base import QUEUES
from runtime.process import log_to_stderr
from runtime.settings import Settings
from workers.processes import work


def babble() -> None:
    """Wait for a job, write a line of no protocol, and go on as if nothing were wrong."""
    for line in sys.stdin:
        if '"run"' in line:
            print("models of somebody else", flush=True)  # noqa: T201 - what the test is about
    time.sleep(600)


if __name__ == "__main__":
    if sys.argv[1:]:
        babble()
    else:
        log_to_stderr("info")
        work(Settings.load(), QUEUES, child_module="tests.workers.babbling")
