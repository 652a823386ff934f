"""`python -m benchmarks.faults.skewed DAYS`: a scheduler whose clock is wrong by some days."""

import sys
from datetime import timedelta

from runtime.process import log_to_stderr
from runtime.settings import Settings
from testing.clocks import ClockSetBy
from workers.processes import run_scheduler

if __name__ == "__main__":
    log_to_stderr("warning")
    run_scheduler(Settings.load(), ClockSetBy(by=timedelta(days=int(sys.argv[1]))))
