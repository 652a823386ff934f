"""A child process of a worker that answers with how many threads it computes: `python -m tests.workers.threaded`."""

import json
import os
import sys

import torch

sys.stdin.readline()  # the settings
threads = f"{torch.get_num_threads()} {os.environ['OMP_NUM_THREADS']}"
progress = {"done": 1, "total": 1, "detail": threads}
sys.stdout.write(json.dumps({"progress": progress, "file": None}) + "\n")
sys.stdout.flush()
sys.stdin.readline()
