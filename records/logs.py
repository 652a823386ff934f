"""How every process logs."""

import logging
import sys

import structlog


def log_to_stderr(level: str) -> None:
    """Write structured logs to standard error: lines of JSON, or for a terminal lines for people."""
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


def _is_no_interruption(record: logging.LogRecord) -> bool:
    """Tell errors from a Ctrl-C, which a pool of connections that it reaches reports as an error of its own."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))
