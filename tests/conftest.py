"""What every test may ask for."""

import os
from pathlib import Path

import pytest

pytest_plugins = ["tests.databases"]


@pytest.fixture(scope="session")
def camels() -> Path:
    """The folder of real CAMELS-US data, where FRESHET_CAMELS names one."""
    folder = os.environ.get("FRESHET_CAMELS")
    if folder is None:
        pytest.skip("set FRESHET_CAMELS to the folder of real CAMELS-US data to run this test")
    assert Path(folder).is_dir(), f"FRESHET_CAMELS names {folder}, which is not a folder"
    return Path(folder)
