"""A function is called at intervals until the block ends, at once when asked, and no more once it declines."""

import threading

from runtime.watchdog import Repeated

PATIENCE = 60.0  # seconds


def test_it_is_called_until_the_block_ends() -> None:
    called = threading.Semaphore(0)

    def call() -> float:
        called.release()
        return 0.001

    with Repeated("test", call):
        for _ in range(3):
            assert called.acquire(timeout=PATIENCE)
    while called.acquire(blocking=False):
        pass
    assert not called.acquire(timeout=0.01)


def test_it_is_called_at_once_when_asked() -> None:
    called = threading.Semaphore(0)

    def call() -> float:
        called.release()
        return 2 * PATIENCE

    with Repeated("test", call) as repeated:
        assert called.acquire(timeout=PATIENCE)
        repeated.call_now()
        assert called.acquire(timeout=PATIENCE)


def test_it_is_not_called_again_once_it_declines() -> None:
    calls: list[None] = []
    ended = threading.Event()

    def call() -> None:
        calls.append(None)
        ended.set()

    with Repeated("test", call) as repeated:
        assert ended.wait(PATIENCE)
        repeated.call_now()
    assert len(calls) == 1
