"""A child process of a worker that answers with how many threads it computes: `python -m tests.workers.threaded`."""

import json
import os
import sys

import torch

sys.stdin.readline()  # the settings
sys.stdout.write(json.dumps({"torch": torch.get_num_threads(), "environment": os.environ["OMP_NUM_THREADS"]}) + "\n")
sys.stdout.flush()
sys.stdin.readline()
