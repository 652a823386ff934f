"""`freshet serve` answers what the command line shows, until it is stopped."""

import signal
import socket
import subprocess
import time
from collections import Counter

import httpx2
import pytest

from freshet.commands.serve import addresses
from freshet.supervisor.service import commands
from tests.freshet.conftest import Freshet
from tests.freshet.processes import started

PATIENCE = 60  # seconds


@pytest.fixture
def port() -> int:
    """A port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


@pytest.mark.extended
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_the_latest_forecast_is_the_run_until_the_server_is_stopped(
    worked: Freshet, port: int, how: signal.Signals
) -> None:
    (listed,) = worked("runs", "--json").json["runs"]
    run = worked("runs", listed["id"], "--json").json
    basin = worked("runs", listed["id"], "--basin", "SYNTH-01", "--json").json

    with started(worked.data, "serve", "--port", str(port)) as server:
        latest = _ask(server, f"http://127.0.0.1:{port}/v1/basins/SYNTH-01/forecasts/latest").json()
        server.send_signal(how)
        out, err = server.communicate(timeout=PATIENCE)

    assert (latest["run"], latest["t0"], latest["version"]) == (run["id"], run["t0"], run["version"])
    assert latest["units"]["discharge"] == "m3/s"
    for part in ("discharge", "storage", "water_balance", "provenance"):
        assert latest[part] == basin[part]
    assert server.returncode in ((0, 130) if how is signal.SIGINT else (0, 143, -how))
    assert out == ""
    assert f'"url": "http://127.0.0.1:{port}"' in err
    assert "Traceback" not in err


def test_each_queue_has_as_many_workers_as_are_asked_for() -> None:
    parts = commands("127.0.0.1", 8000, workers=2, training_workers=3)

    workers = [command[1:] for command in parts.values() if command[0] == "worker"]
    assert workers.count(["--queue", "service"]) == 1  # free for the service, whatever operators post
    queues = Counter(command[1] for command in workers)
    assert queues == {"service": 1, "default": 2, "ingest": 1, "training": 3, "delivery": 1}


def test_the_service_has_a_worker_for_each_core_up_to_four() -> None:
    for cores, expected in ((1, 1), (3, 3), (16, 4)):
        parts = commands("127.0.0.1", 8000, workers=1, training_workers=1, cores=cores)
        assert [name for name in parts if name.startswith("service")] == [
            f"service worker {number + 1}" for number in range(expected)
        ]


def test_a_gpu_gets_a_worker_of_its_own_and_the_others_train_on_the_cpu() -> None:
    parts = commands("127.0.0.1", 8000, workers=1, training_workers=2, device="cuda:0")

    assert parts["gpu worker 1"] == ["worker", "--queue", "gpu", "--device", "cuda:0"]
    training = [command for name, command in parts.items() if name.startswith("training")]
    assert training == [["worker", "--queue", "training", "--device", "cpu"]] * 2


@pytest.mark.extended
def test_a_second_service_on_the_same_data_is_refused(worked: Freshet, port: int) -> None:
    with started(worked.data, "serve", "--port", str(port)) as server:
        _ask(server, f"http://127.0.0.1:{port}/health/ready")
        second = worked("serve", "--port", str(_another(port)))
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)

    assert second.code == 5
    assert f"A service runs on {worked.data} already (process {server.pid})" in second.err
    assert "another FRESHET_DATA" in second.err


def test_a_port_that_is_taken_is_reported(freshet: Freshet) -> None:
    freshet.data.mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        ended = [freshet("serve", "--port", port), freshet("demo", "--port", port)]

    for result in ended:
        assert result.code == 2
        assert f"127.0.0.1:{port} (Address already in use)" in result.err
        assert "another --port" in result.err
    assert not (freshet.data / "demo").exists()


@pytest.mark.parametrize("host", ["203.0.113.7", "no-such-host.invalid"])
def test_a_host_that_is_not_this_machine_is_reported(freshet: Freshet, port: int, host: str) -> None:
    freshet.data.mkdir()
    result = freshet("serve", "--host", host, "--port", str(port))

    assert result.code == 2
    assert f"{host}:{port}" in result.err
    assert "--host of this machine" in result.err


def test_an_address_of_the_newer_protocol_is_shown_in_brackets() -> None:
    assert all("http://[::1]:8000/" in line for line in addresses("::1", 8000))


def _another(port: int) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        assert number != port
        return number


def _ask(server: subprocess.Popen[str], address: str) -> httpx2.Response:
    """Return the answer as soon as the server gives one."""
    end = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None, server.communicate()[1]
        try:
            return httpx2.get(address, trust_env=False, timeout=PATIENCE).raise_for_status()
        except httpx2.TransportError:
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)
