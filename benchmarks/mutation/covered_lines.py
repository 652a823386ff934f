"""A pytest plugin that stores which tests run which lines of the mutated modules, how long each takes, and its tier.

FRESHET_COVERED names the folder for what each test process stores.
"""

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

from benchmarks.mutation.mutants import MODULES

OUTSIDE = "outside of any test"
VARIABLE = "FRESHET_COVERED"


class CoveredLines:
    """Follows the tests of a process."""

    def __init__(self, root: Path, folder: Path, process: str) -> None:
        self.root, self.file = root, folder / f"{process}.json"
        modules = [str(root / module) for module in MODULES]
        self.coverage = coverage.Coverage(data_file=None, include=modules, config_file=False)
        self.seconds: dict[str, float] = defaultdict(float)
        self.extended: set[str] = set()
        self.coverage.start()
        self.coverage.switch_context(OUTSIDE)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count what runs during a test as run by it."""
        self.coverage.switch_context(item.nodeid)
        if item.get_closest_marker("extended"):
            self.extended.add(item.nodeid)
        result = yield
        self.coverage.switch_context(OUTSIDE)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up how long a test takes."""
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Store what was seen."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {module: data.contexts_by_lineno(str(self.root / module)) for module in MODULES}
        tests = {name: [seconds, name in self.extended] for name, seconds in self.seconds.items()}
        self.file.write_text(json.dumps({"tests": tests, "lines": lines}))


def pytest_configure(config: pytest.Config) -> None:
    """Follow the tests of a process that runs tests, not of one that hands them out."""
    process = os.environ.get("PYTEST_XDIST_WORKER")
    if process is not None:
        config.pluginmanager.register(CoveredLines(config.rootpath, Path(os.environ[VARIABLE]), process))
