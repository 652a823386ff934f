"""A pytest plugin that runs the functions which the file in FRESHET_CHOSEN lists, in that order.

A mutant may change the name of a test, which has a parameter's value in it, but not that of its function.
"""

import os
from pathlib import Path

import pytest

VARIABLE = "FRESHET_CHOSEN"


def function_of(test: str) -> str:
    """Return the name of a test without its parameters."""
    return test.partition("[")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is not listed."""
    order = {name: number for number, name in enumerate(Path(os.environ[VARIABLE]).read_text().splitlines())}
    items[:] = sorted(
        (item for item in items if function_of(item.nodeid) in order), key=lambda item: order[function_of(item.nodeid)]
    )
