"""Notifications go to systemd's socket by its protocol, and nowhere else."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime import watchdog

PATIENCE = 60.0  # seconds


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[socket.socket]:
    """A socket that waits for signs."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield listener


def test_a_notification_reaches_its_socket(watcher: socket.socket) -> None:
    watchdog.notify(watchdog.READY)
    assert watcher.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "/nowhere/at/all", "@nobody-listens-there"])
def test_without_a_socket_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    watchdog.notify(watchdog.LIVES)


def test_heartbeats_are_sent_more_often_than_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    monkeypatch.setenv("WATCHDOG_USEC", "20000000")
    assert watchdog.pause() == 5
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    assert watchdog.pause() == 5
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid() + 1))
    assert watchdog.pause() is None
    monkeypatch.delenv("WATCHDOG_USEC")
    assert watchdog.pause() is None


def test_a_thread_sends_heartbeats_while_the_process_lives(
    watcher: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    monkeypatch.setenv("WATCHDOG_USEC", "4000")
    died = threading.Event()
    asked = threading.Semaphore(0)

    def lives() -> bool:
        asked.release()
        return not died.is_set()

    with watchdog.given(lives):
        for _ in range(3):
            assert watcher.recv(100) == b"WATCHDOG=1"
        died.set()
        for _ in range(100):
            assert asked.acquire(timeout=PATIENCE)
        watcher.settimeout(0)
        while True:  # what was sent before
            try:
                watcher.recv(100)
            except BlockingIOError:
                break
        for _ in range(3):
            assert asked.acquire(timeout=PATIENCE)
        with pytest.raises(BlockingIOError):
            watcher.recv(100)
