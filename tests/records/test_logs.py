"""What libraries log is written as this program's own lines are, and an interruption is no error of theirs."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from records.logs import log_to_stderr

log_to_stderr("info")
library = logging.getLogger("a.library")
library.warning("something is odd")
try:
    raise {error}
except BaseException:
    library.error("a reset failed", exc_info=True)
"""


def _logged(error: str) -> list[dict[str, str]]:
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(error=error)], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in process.stderr.splitlines()]


def test_a_librarys_lines_are_structured() -> None:
    odd, failed = _logged("ValueError('of a value')")
    assert (odd["event"], odd["level"]) == ("something is odd", "warning")
    assert (failed["event"], failed["level"]) == ("a reset failed", "error")
    assert "ValueError: of a value" in failed["exception"]


def test_an_interruption_is_not_logged_as_an_error() -> None:
    (odd,) = _logged("KeyboardInterrupt")
    assert odd["event"] == "something is odd"
