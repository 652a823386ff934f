"""A small synthetic country, ingested and trained on once, and a fresh copy of its database for each test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from records.database.engine import Database
from testing.country import train_on, write_country


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five years of three basins, 2000-10-01..2005-09-30."""
    folder = tmp_path_factory.mktemp("country") / "camels"
    write_country(folder)
    return folder


@pytest.fixture(scope="session")
def trained_file(country: Path, migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the country and one version of two members."""
    return _trained(country, migrated_sqlite, tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="session")
def long_trained_file(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same on a record until 2008-09-30: it holds the four years on which a promotion can be decided."""
    folder = tmp_path_factory.mktemp("long")
    country = folder / "camels"
    write_country(country, last_day="2008-09-30")
    return _trained(country, migrated_sqlite, folder)


def _trained(country: Path, migrated_sqlite: Path, folder: Path) -> Path:
    file = Path(shutil.copy(migrated_sqlite, folder / "freshet.sqlite"))
    train_on(country, file)
    return file


@pytest.fixture(scope="session")
def live_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the country, what a feed of weather brought of it, and a version on that."""
    from tests.operations.live import prepare, station

    folder = tmp_path_factory.mktemp("live")
    file = Path(shutil.copy(trained_file, folder / "freshet.sqlite"))
    database = Database(f"sqlite:///{file}")
    with station(database, folder) as at:
        prepare(at)
    database.close()
    return file


@pytest.fixture
def trained_store(trained_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of the country and its version."""
    database = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'country.sqlite')}")
    yield database
    database.close()
