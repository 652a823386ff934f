"""The small country with a version all of whose cells hold water, so that any of them can be given more or less."""

import shutil
from pathlib import Path

import pytest

from ingestion.sources import synthetic
from jobspec.training import STATIC_ATTRIBUTES, InputsConfig
from testing.country import train_on


@pytest.fixture(scope="session")
def trained_file(country: Path, migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the country and a version of two members that see the area of a basin, too."""
    file = Path(shutil.copy(migrated_sqlite, tmp_path_factory.mktemp("holding") / "freshet.sqlite"))
    train_on(country, file, inputs=InputsConfig(product=synthetic.PRODUCT, static=STATIC_ATTRIBUTES))
    return file
