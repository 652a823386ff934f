"""What every process sets up: logs, memory, garbage collection and threads."""

import atexit
import ctypes
import gc
import logging
import os
import sys
import threading
from types import TracebackType

from setproctitle import getproctitle

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h
HELD_BYTES = 128 << 20
"""Free bytes at the end of the heap that are held at most."""
LARGEST_BYTES = 32 << 20
"""Larger blocks are mapped by themselves, and returned when they are freed; glibc takes no higher limit."""


def hold_freed_memory() -> None:
    """Let this process reuse the memory that it frees; nothing where the C library is not glibc.

    By default glibc returns large blocks to the system at once, and each new one is cleared and mapped page by page.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGEST_BYTES)
        mallopt(_M_TRIM_THRESHOLD, HELD_BYTES)


OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""Loading torch creates some 100 000 objects: at Python's default of 700, garbage collection takes a sixth of the
time."""


def collect_seldom() -> None:
    """Look for garbage less often than by default, and not at the end, where all modules would be looked through."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    atexit.register(gc.freeze)


_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "BLIS")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""The environment of a computing process; the libraries read it when they are loaded."""


def use_one_thread() -> None:
    """Limit numpy and torch to one thread, also in child processes.

    Matrix products are small here. Split over threads, each product waits for the slowest of them, and on a machine
    with other work that wait is longer than the product. Processes and blocks of basins use the cores
    (`models.devices`). Numpy must not be loaded yet; torch may be.
    """
    getproctitle()  # it looks for the command line in memory and cannot find it once the environment has moved
    os.environ |= ONE_THREAD
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def log_to_stderr(level: str) -> None:
    """Write structured logs to standard error: lines of JSON, or for a terminal lines for people.

    Each line carries the context bound at its place, such as `request` or `job` (`structlog.contextvars`).
    """
    import structlog  # here, for a command that logs nothing starts in half the time

    terminal = sys.stderr.isatty()
    renderer = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    of_libraries = logging.StreamHandler(sys.stderr)
    of_libraries.addFilter(_is_no_interruption)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    of_libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(processors=[remove_meta, renderer], foreign_pre_chain=processors)
    )
    logging.basicConfig(handlers=[of_libraries])
    logging.captureWarnings(True)
    if not terminal:
        log = structlog.get_logger()

        def log_error(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
            if issubclass(kind, KeyboardInterrupt):
                sys.__excepthook__(kind, error, traceback)
            else:
                log.critical("process.failed", exc_info=(kind, error, traceback))

        def log_error_of_thread(end: threading.ExceptHookArgs) -> None:
            if end.exc_type is not SystemExit:
                name, cause = end.thread and end.thread.name, (end.exc_type, end.exc_value, end.exc_traceback)
                log.error("thread.failed", thread=name, exc_info=cause)

        sys.excepthook, threading.excepthook = log_error, log_error_of_thread


def _is_no_interruption(record: logging.LogRecord) -> bool:
    """Filter out a Ctrl-C that a connection pool reports as its error."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))
