"""Logging of every process: Freshet's messages, its libraries' messages, warnings and uncaught errors."""

import logging
import sys
import threading
from types import TracebackType

import structlog

log = structlog.get_logger()


def log_to_stderr(level: str) -> None:
    """Write structured logs to standard error: lines of JSON, or for a terminal lines for people.

    Each line carries the context bound at its place, such as `request` or `job` (`structlog.contextvars`).
    """
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
        sys.excepthook = _log_error
        threading.excepthook = _log_error_of_thread


def _log_error(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    log.critical("process.failed", exc_info=(kind, error, traceback))


def _log_error_of_thread(result: threading.ExceptHookArgs) -> None:
    if result.exc_type is SystemExit:
        return
    thread = result.thread.name if result.thread else None
    log.error("thread.failed", thread=thread, exc_info=(result.exc_type, result.exc_value, result.exc_traceback))


def _is_no_interruption(record: logging.LogRecord) -> bool:
    """Filter out a Ctrl-C that a connection pool reports as its error."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))
