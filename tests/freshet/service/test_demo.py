"""The demonstration waits as long as its service lives, and names the part that has died."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from freshet.client import Client, ServiceError
from freshet.demo import Work, require_alive

SUPERVISOR = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from runtime import restart_notes
data, cause, times = sys.argv[1:]
since = datetime(2008, 9, 20, 6, tzinfo=UTC)
restart_notes.store(Path(data), [restart_notes.Restart("api", cause, int(times), since)] if cause else [])
print("written", flush=True)
sys.stdin.readline()
"""


@contextmanager
def supervisor(data: Path, cause: str = "", times: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that has written down, as a supervisor does, how its API has ended."""
    command = [sys.executable, "-c", SUPERVISOR, str(data), cause, str(times)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_service_without_a_fault_is_alive(tmp_path: Path) -> None:
    with supervisor(tmp_path) as process:
        assert require_alive(process, tmp_path) == ""


def test_a_service_that_has_ended_is_reported_with_its_log(tmp_path: Path) -> None:
    with supervisor(tmp_path) as process:
        process.kill()
        process.wait()
        with pytest.raises(ServiceError, match=r"The service was killed by SIGKILL .* its log is .*service\.log"):
            require_alive(process, tmp_path)


def test_a_process_that_exits_repeatedly_is_reported_with_its_log(tmp_path: Path) -> None:
    with supervisor(tmp_path, "ended with exit code 2", 3) as process:
        expected = (
            r"The api of the service ends repeatedly: it ended with exit code 2, 3 times .* its log is .*service\.log"
        )
        with pytest.raises(ServiceError, match=expected):
            require_alive(process, tmp_path)


@pytest.mark.parametrize(
    ("cause", "times"),
    [("ended with exit code 2", 1), ("gives no sign of life", 0), ("hung and was killed", 4)],
    ids=["restarted once", "silent", "slow to start"],
)
def test_a_part_that_is_slow_or_started_again_is_waited_for(tmp_path: Path, cause: str, times: int) -> None:
    with supervisor(tmp_path, cause, times) as process:
        assert require_alive(process, tmp_path) == f"the api {cause}"


class Ready(BaseHTTPRequestHandler):
    """Answers everything with 200."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_a_service_that_is_slow_to_start_is_waited_for_with_the_reason_shown(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    shown: list[tuple[int, str]] = []
    servers: list[HTTPServer] = []

    def show(what: str, done: int, total: int, detail: str = "") -> None:
        assert (what, total) == ("start of the service", 1)
        shown.append((done, detail))
        if len(shown) == 3:
            servers.append(HTTPServer(("127.0.0.1", port), Ready))
            threading.Thread(target=servers[0].serve_forever, daemon=True).start()

    address = f"http://127.0.0.1:{port}"
    with supervisor(tmp_path, "gives no sign of life") as process, Client(address) as client:
        Work(client, partial(require_alive, process, tmp_path), show).await_service(address)
    servers[0].shutdown()
    servers[0].server_close()
    assert shown[0][1].startswith(f"waiting for the API at {address}")
    assert shown[0][1].endswith("; the api gives no sign of life")
    assert shown[-1] == (1, "it answers")


def test_a_service_that_dies_before_it_answers_is_not_waited_for(tmp_path: Path) -> None:
    with supervisor(tmp_path) as process, Client("http://127.0.0.1:9") as client:

        def show(what: str, done: int, total: int, detail: str = "") -> None:
            assert (what, done, total) == ("start of the service", 0, 1), detail
            process.kill()
            process.wait()

        with pytest.raises(ServiceError, match="was killed by SIGKILL"):
            Work(client, partial(require_alive, process, tmp_path), show).await_service("http://127.0.0.1:9")
