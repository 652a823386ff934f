"""A worker, or the child process of one, on a machine whose GPU is that of a test (`tests.extensions.gpu.fake_gpu`).

python -m tests.extensions.gpu.with_gpu WORKER-PROCESS      the child
python -m tests.extensions.gpu.with_gpu QUEUE ...           the worker
"""

import sys
from collections.abc import Sequence

from runtime.process import log_to_stderr
from runtime.settings import Settings
from workers.job_processes.job_process import serve
from workers.processes import work
from workers.tasks import HANDLERS


def main(arguments: Sequence[str]) -> None:
    """Run the child where a worker's process id is given, else a worker of some queues."""
    if arguments[0].isdigit():
        from tests.extensions.gpu.fake_gpu import fake_gpu  # here, for a worker starts without torch

        with fake_gpu:
            serve(HANDLERS)
    log_to_stderr("info")
    work(Settings.load(device="cuda:0"), arguments, child_module="tests.extensions.gpu.with_gpu")


if __name__ == "__main__":
    main(sys.argv[1:])
