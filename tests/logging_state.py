"""What a program of this process does to logging, taken back."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logging_as_before() -> Iterator[None]:
    """Put structlog, the root logger, warnings and the hooks of errors back to what they were (`runtime.process`)."""
    configured, configuration = structlog.is_configured(), structlog.get_config()
    handlers, hook, thread_hook = [*logging.root.handlers], sys.excepthook, threading.excepthook
    captures = logging._warnings_showwarning is not None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        structlog.reset_defaults()
        if configured:
            structlog.configure(**configuration)
        logging.root.handlers[:] = handlers
        logging.captureWarnings(captures)
        sys.excepthook, threading.excepthook = hook, thread_hook
