"""A part of the service is a fork: it runs a command, ends as one, and holds on to nothing of its supervisor's."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.freshet.conftest import Freshet, environment

pytestmark = pytest.mark.extended

FORK = """
import fcntl, json, os, signal, subprocess, sys, time
from freshet.cli.main import main
from freshet.supervisor import supervised_process
from runtime.process import log_to_stderr

def fork(*command, main=main):
    return supervised_process.fork(main, command, os.environ, [lock.close])

def named(process):
    while not (name := open(f"/proc/{process.pid}/cmdline").read().rstrip("\\0")).startswith("freshet "):
        time.sleep(0.01)
    return name

with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    supervised_process.load_parts()
    results = {"wrong": fork("scheduler", "--no-such-option").wait(60)}
    ended = [fork("scheduler") for _ in range(5)]
    for process in ended:
        process.terminate()
    results["ended at once"] = [process.wait(60) for process in ended]
    scheduler = fork("scheduler")
    results["name"] = named(scheduler)
    try:
        scheduler.wait(0.1)
    except subprocess.TimeoutExpired:
        results["runs"] = scheduler.poll() is None
    scheduler.kill()
    results["killed"] = scheduler.wait(60)
    last = fork("scheduler")
    named(last)
    results["last"] = last.pid
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    results["of unknown end"] = fork("scheduler", "--no-such-option").wait(60)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    results["torch"] = "torch" in sys.modules
    log_to_stderr("info")
    results["broken"] = fork("scheduler", main=lambda: 1 / 0).wait(60)
print(json.dumps(results), flush=True)
input()
"""


def test_a_fork_is_a_process_of_its_own(empty: Freshet, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", FORK, str(lock)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment(empty.data),
        text=True,
    ) as process:
        assert process.stdout is not None
        shown: dict[str, Any] = json.loads(process.stdout.readline())
        assert (shown["wrong"], shown["name"], shown["runs"]) == (2, "freshet scheduler", True)
        assert shown["killed"] == -signal.SIGKILL
        assert set(shown["ended at once"]) <= {0, -signal.SIGTERM}
        assert (shown["of unknown end"], shown["broken"], shown["torch"]) == (1, 1, False)
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # though the last fork lives
            os.kill(shown["last"], 0)
        process.kill()
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    failures = [json.dumps(line) for line in lines if line["event"] == "process.failed"]
    assert "ZeroDivisionError" in failures[-1]
