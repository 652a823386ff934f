"""`python -m benchmarks.cycles.noting BASINS`: a worker that notes which basins of which T0 it begins to compute.

With a worker's process id in place of the number it is the process that runs the jobs.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jobspec.jobs.base import QUEUES
from jobspec.kinds import KINDS
from operations.forecasting import forecast
from operations.forecasting.results import results_of
from runtime.process import log_to_stderr
from runtime.settings import Settings
from workers.job_processes.job_process import serve
from workers.processes import work
from workers.tasks import HANDLERS

BASINS, NOTES = "BENCHMARK_PART_BASINS", "computed"


def _noting(work: Any, plan: Any, **rest: Any) -> Any:
    with Path(os.environ["FRESHET_DATA"], NOTES).open("a") as file:
        file.write(f"{time.time()} {plan.days.t0} {plan.params.weather} {','.join(sorted(plan.forcings))}\n")
    return results_of(work, plan, **rest)


if __name__ == "__main__":
    if BASINS in os.environ:
        KINDS["daily-part"].part_basins = int(os.environ[BASINS])
        with patch.object(forecast, "results_of", _noting):
            serve(HANDLERS)
    else:
        os.environ[BASINS] = sys.argv[1]  # for the process that runs its jobs
        log_to_stderr("info")
        work(Settings.load(), QUEUES, child_module="benchmarks.cycles.noting")
