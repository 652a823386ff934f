"""A program of the tests' process leaves no trace in how the others log."""

import logging
import sys
import threading

import structlog
from structlog.testing import capture_logs

from runtime.process import log_to_stderr
from tests.logging_state import logging_as_before


def test_debug_lines_are_seen_after_a_program_that_logs_errors_alone() -> None:
    before = [*logging.root.handlers], sys.excepthook, threading.excepthook
    with logging_as_before():
        log_to_stderr("error")
    assert ([*logging.root.handlers], sys.excepthook, threading.excepthook) == before
    with capture_logs() as lines:
        structlog.get_logger().debug("is.seen")
    assert [line["event"] for line in lines] == ["is.seen"]
