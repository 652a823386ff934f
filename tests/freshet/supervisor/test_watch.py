"""The service's processes: each that dies or hangs is replaced and reported, and none outlives the supervisor."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from jobspec.jobs.base import GPU, QUEUES, SERVICE
from testing.processes import children, part_name, runs
from tests.freshet.conftest import Freshet
from tests.freshet.processes import started

pytestmark = pytest.mark.extended

PATIENCE = 120.0  # seconds: a bound for what hangs, not for what is slow


class Tree:
    """A running service, seen from outside."""

    def __init__(self, supervisor: subprocess.Popen[str], address: str) -> None:
        self.supervisor, self._address = supervisor, address

    def parts(self) -> dict[str, int]:
        """Return the process ids of the parts, by what they are."""
        return {part_name(process): process for process in children(self.supervisor.pid) if runs(process)}

    def restarts(self) -> list[str]:
        """Return what the service reports on the restarts of its parts; nothing while the API is away."""
        try:
            result = httpx2.get(f"{self._address}/v1/status", trust_env=False, timeout=PATIENCE).json()
        except httpx2.TransportError:
            return []
        return [each["sentence"] for each in result["degraded"] if each["code"] == "part-restarting"]

    def processes(self) -> Any:
        """Return how many schedulers and workers have sent heartbeats; nothing while the API is away."""
        try:
            return httpx2.get(f"{self._address}/v1/status", trust_env=False, timeout=PATIENCE).json()["processes"]
        except httpx2.TransportError:
            return {}

    def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds, and return it."""
        end = time.monotonic() + PATIENCE
        while not (held := holds()):
            assert time.monotonic() < end
            time.sleep(0.1)
        return held

    def answers(self) -> bool:
        """Whether the API does."""
        try:
            return httpx2.get(f"{self._address}/health/live", trust_env=False, timeout=2).is_success
        except httpx2.TransportError:
            return False


@pytest.fixture
def tree(empty: Freshet) -> Iterator[Tree]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with started(empty.data, "serve", "--port", str(port), "--training-workers", "1") as supervisor:
        tree = Tree(supervisor, f"http://127.0.0.1:{port}")
        tree.until(tree.answers)
        yield tree
        if supervisor.poll() is None:
            supervisor.send_signal(signal.SIGCONT)
            supervisor.terminate()
            supervisor.communicate(timeout=PATIENCE)


def test_every_stopped_process_is_replaced(tree: Tree) -> None:
    queues = [queue for queue in QUEUES if queue != GPU]
    workers = [f"worker {queue}" for queue in queues]
    tree.until(
        lambda: tree.processes().get("workers") == dict.fromkeys(queues, 1) | {SERVICE: 2}
    )  # the default one takes it too
    before = tree.parts()
    assert sorted(before) == sorted(["api", "broker", "scheduler", *workers])
    for process in before.values():
        os.kill(process, signal.SIGSTOP)
    tree.until(lambda: (after := tree.parts()).keys() == before.keys() and not {*after.values()} & {*before.values()})
    tree.until(tree.answers)


def test_a_process_that_dies_repeatedly_is_reported_while_the_api_answers(tree: Tree) -> None:
    api = tree.parts()["api"]
    killed: set[int] = set()

    def kill_and_read() -> bool:
        if scheduler := tree.parts().get("scheduler"):
            os.kill(scheduler, signal.SIGKILL)
            killed.add(scheduler)
        return any(sentence.startswith("The scheduler was killed by SIGKILL") for sentence in tree.restarts())

    tree.until(lambda: kill_and_read() and len(killed) >= 4)
    assert tree.parts()["api"] == api
    assert tree.supervisor.poll() is None


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_nothing_outlives_the_supervisor(tree: Tree, stopped: bool) -> None:
    parts = tree.parts().values()
    if stopped:
        for process in [tree.supervisor.pid, *parts]:
            os.kill(process, signal.SIGSTOP)
    tree.supervisor.kill()
    tree.supervisor.wait()
    tree.until(lambda: not any(runs(process) for process in parts))
