"""Measurements: `python -m benchmarks NAME --json`. Each compares with a named peer in the same run."""

from runtime.process import use_one_thread

use_one_thread()  # before numpy is loaded, which every measurement does
