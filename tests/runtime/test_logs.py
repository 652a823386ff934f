"""Log lines of libraries have this program's form, and an interruption is not logged as an error."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from runtime.process import log_to_stderr

log_to_stderr("info")
library = logging.getLogger("a.library")
library.warning("something is odd")
try:
    raise {error}
except BaseException:
    library.error("a reset failed", exc_info=True)
"""


UNCAUGHT = """
import threading, warnings
from structlog.contextvars import bind_contextvars
from runtime.process import log_to_stderr

log_to_stderr("info")
warnings.warn("it is old")
thread = threading.Thread(target=lambda: 1 / 0, name="divider")
thread.start()
thread.join()
bind_contextvars(job="a job")
raise ValueError("of a value")
"""


def _logged(error: str) -> list[dict[str, str]]:
    return _lines(PROGRAM.format(error=error), 0)


def _lines(program: str, code: int) -> list[dict[str, str]]:
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert process.returncode == code
    return [json.loads(line) for line in process.stderr.splitlines()]


def test_a_librarys_lines_are_structured() -> None:
    odd, failed = _logged("ValueError('of a value')")
    assert (odd["event"], odd["level"]) == ("something is odd", "warning")
    assert (failed["event"], failed["level"]) == ("a reset failed", "error")
    assert "ValueError: of a value" in failed["exception"]


def test_an_interruption_is_not_logged_as_an_error() -> None:
    (odd,) = _logged("KeyboardInterrupt")
    assert odd["event"] == "something is odd"


def test_warnings_and_errors_that_nothing_has_caught_are_lines_too() -> None:
    warning, thread, error = _lines(UNCAUGHT, 1)
    assert (warning["level"], "it is old" in warning["event"]) == ("warning", True)
    assert (thread["event"], thread["thread"]) == ("thread.failed", "divider")
    assert "ZeroDivisionError" in thread["exception"]
    assert (error["event"], error["level"], error["job"]) == ("process.failed", "critical", "a job")
    assert "ValueError: of a value" in error["exception"]
