"""The demonstration: its port, and how it waits for its service; all of it is in tests/guide."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from freshet.commands import serve
from freshet.commands.demo import choose_port
from freshet.demo.demonstration import ServiceFailed, Work, client_errors_as_problems, require_alive
from freshet_client import Client, JobFailed, Unreachable
from freshet_client.models import Job
from hydrology.base.errors import DataProblem, InvalidInput

SUPERVISOR = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from runtime import watchdog
data, cause, times = sys.argv[1:]
since = datetime(2008, 9, 20, 6, tzinfo=UTC)
watchdog.store_restarts(Path(data), [watchdog.Restart("api", cause, int(times), since)] if cause else [])
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
        with pytest.raises(ServiceFailed, match=r"The service was killed by SIGKILL .* its log is .*service\.log"):
            require_alive(process, tmp_path)


def test_a_process_that_exits_repeatedly_is_reported_with_its_log(tmp_path: Path) -> None:
    with supervisor(tmp_path, "ended with exit code 2", 3) as process:
        expected = (
            r"The api of the service ends repeatedly: it ended with exit code 2, 3 times .* its log is .*service\.log"
        )
        with pytest.raises(ServiceFailed, match=expected):
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

        with pytest.raises(ServiceFailed, match="was killed by SIGKILL"):
            Work(client, partial(require_alive, process, tmp_path), show).await_service("http://127.0.0.1:9")


def test_what_goes_wrong_at_the_service_ends_the_command_with_a_sentence() -> None:
    with pytest.raises(ServiceFailed, match="It does not answer") as silent, client_errors_as_problems():
        raise Unreachable("It does not answer.")
    ended: Any = {"id": "j1", "status": "failed", "problem": None}
    job = Job.model_construct(**ended)
    with pytest.raises(DataProblem, match="Job j1 failed: its reason is shown") as failed, client_errors_as_problems():
        raise JobFailed(job)
    assert (silent.value.exit_code, failed.value.exit_code) == (5, 4)


@contextmanager
def listening(host: str = "127.0.0.1") -> Iterator[int]:
    """Listen on a port."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as taken:
        taken.bind((host, 0))
        taken.listen()
        yield int(taken.getsockname()[1])


@pytest.mark.parametrize("listener", ["127.0.0.1", "0.0.0.0"])
def test_the_demonstration_takes_another_port_where_the_usual_one_is_in_use(
    listener: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(listener) as taken:
        monkeypatch.setattr(serve, "PORT", taken)
        chosen = choose_port("127.0.0.1", None, once=False)
        assert chosen != taken
        assert f"Another program listens on port {taken}" in capsys.readouterr().err
        with pytest.raises(serve.PortInUse, match=f"127.0.0.1:{taken} .* choose another --port"):
            choose_port("127.0.0.1", taken, once=False)
        with pytest.raises(serve.PortInUse):
            choose_port("127.0.0.1", taken, once=True)
        assert choose_port("127.0.0.1", None, once=True) != taken
    assert capsys.readouterr().err == ""
    assert choose_port("127.0.0.1", None, once=False) == taken
    assert choose_port("127.0.0.1", taken, once=True) == taken


def test_an_address_that_is_not_this_machines_is_not_a_port_in_use() -> None:
    with pytest.raises(InvalidInput, match="--host of this machine") as refused:
        choose_port("203.0.113.7", None, once=False)
    assert not isinstance(refused.value, serve.PortInUse)
