"""The systemd unit: it can be loaded, and it fits the service's notifications and stop time."""

import configparser
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from freshet.supervisor.service import PATIENCE
from tests.deployment.files import ROOT
from tests.freshet.conftest import environment

UNIT = ROOT / "freshet.service"
SECONDS = 120.0  # a bound for what hangs


def unit() -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(UNIT)
    return read


def verified(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Have systemd read a unit whose command and user are here."""
    copy = folder / UNIT.name
    copy.write_text(text.replace("/opt/freshet/bin/freshet", sys.executable).replace("=freshet\n", "=root\n"))
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(copy)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_reads_it(tmp_path: Path) -> None:
    done = verified(tmp_path, UNIT.read_text())
    assert (done.returncode, done.stderr) == (0, "")
    assert "Unknown key" in verified(tmp_path, UNIT.read_text().replace("WatchdogSec", "WatchdogSeconds")).stderr


def test_it_waits_as_long_as_the_service_needs_to_stop() -> None:
    service = unit()["Service"]
    assert service["Type"] == "notify"
    assert int(service["TimeoutStopSec"]) > PATIENCE
    assert service["Restart"] == "always"


def test_it_hides_everything_the_service_does_not_need() -> None:
    service = unit()["Service"]
    assert (service["NoNewPrivileges"], service["ProtectSystem"], service["ProtectHome"]) == ("yes", "strict", "yes")
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] != "root"
    assert not [name for name in service if "PASSWORD" in service[name].upper()]


@pytest.mark.extended
def test_the_service_notifies_systemd_that_it_is_ready_alive_and_stopping(tmp_path: Path) -> None:
    shown: list[bytes] = []
    (tmp_path / "data").mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd, socket.socket() as probe:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(SECONDS)
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
        probe.close()
        watch = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "30000000"}
        with subprocess.Popen(
            [sys.executable, "-m", "freshet", "serve", "--port", port, "--training-workers", "1"],
            env=os.environ | environment(tmp_path / "data") | watch,
            stderr=subprocess.DEVNULL,
        ) as service:
            try:
                _hear_until(systemd, b"READY=1", shown)
                _hear_until(systemd, b"WATCHDOG=1", shown)
                service.terminate()
                _hear_until(systemd, b"STOPPING=1", shown)
                assert service.wait(SECONDS) == 0
            finally:
                service.kill()
    assert shown.count(b"READY=1") == shown.count(b"STOPPING=1") == 1


def _hear_until(systemd: socket.socket, sign: bytes, shown: list[bytes]) -> None:
    end = time.monotonic() + SECONDS
    while True:
        shown.append(systemd.recv(4096))
        if shown[-1] == sign:
            return
        assert time.monotonic() < end
