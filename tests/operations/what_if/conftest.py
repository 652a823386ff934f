"""The small country with a version all of whose cells hold water, so that any of them can be given more or less."""

import shutil
from pathlib import Path

import pytest

from jobspec.training import STATIC_ATTRIBUTES, InputsConfig
from testing.country import train_on
from testing.synthetic import archive as synthetic
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once


@pytest.fixture(scope="session")
def trained_file(country: Path, migrated_sqlite: Path) -> Path:
    """A SQLite file with the country and a version of two members that see the area of a basin, too."""

    def train(folder: Path) -> None:
        file = Path(shutil.copy(migrated_sqlite, folder / FILE))
        train_on(country, file, inputs=InputsConfig(product=synthetic.PRODUCT, static=STATIC_ATTRIBUTES))

    return filled_once(country.parent / "holding", train) / FILE
