"""A small synthetic country, ingested and trained on once, and a fresh copy of its database for each test."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import pytest
import torch

from jobspec.network import sized
from records.database.engine import Database
from records.versions import versions
from testing.country import BASINS, CLOCK, configuration, train_on
from testing.training import train
from testing.work import work_of
from tests.shared_folders import country_until, filled_once

FILE = "freshet.sqlite"

Copies = Callable[[str], tuple[Database, str]]
"""Returns a new copy of the country that has a version of some architecture besides, and that version."""


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def country(shared: Path) -> Path:
    """Five years of three basins, 2000-10-01..2005-09-30."""
    return country_until("2005-09-30", shared)


@pytest.fixture(scope="session")
def trained_file(country: Path, migrated_sqlite: Path) -> Path:
    """A SQLite file with the country and one version of two members."""
    return _trained(country, migrated_sqlite)


@pytest.fixture(scope="session")
def long_trained_file(shared: Path, migrated_sqlite: Path) -> Path:
    """The same on a record until 2008-09-30: it holds the four years on which a promotion can be decided."""
    return _trained(country_until("2008-09-30", shared), migrated_sqlite)


def _trained(country: Path, migrated_sqlite: Path) -> Path:
    def train(folder: Path) -> None:
        train_on(country, Path(shutil.copy(migrated_sqlite, folder / FILE)))

    return filled_once(country.parent / "trained", train) / FILE


@pytest.fixture(scope="session")
def live_file(trained_file: Path) -> Path:
    """A SQLite file with the country, what a feed of weather brought of it, and a version on that."""
    from tests.operations.live import prepare, station

    def fetch(folder: Path) -> None:
        database = Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")
        with station(database, folder) as at:
            prepare(at)
        database.close()

    return filled_once(trained_file.parent / "live", fetch) / FILE


@pytest.fixture
def trained_store(trained_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of the country and its version."""
    database = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'country.sqlite')}")
    yield database
    database.close()


@pytest.fixture
def copies(trained_file: Path, tmp_path: Path) -> Iterator[Copies]:
    """Copies of the country with versions of other networks, each of which is trained once."""

    def add(folder: Path) -> None:
        network = sized("buckets", 3) if folder.name == "buckets" else {"architecture": folder.name, "cells": 6}
        with closing(Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")) as database:
            train(work_of(database, CLOCK), configuration(network=network, members=2), BASINS)

    numbers = count()
    with ExitStack() as stack:

        def copy(architecture: str) -> tuple[Database, str]:
            file = filled_once(trained_file.parent / architecture, add) / FILE
            database = Database(f"sqlite:///{shutil.copy(file, tmp_path / f'copy-{next(numbers)}.sqlite')}")
            stack.callback(database.close)
            with database.reading() as session:
                return database, versions.newest(session).id

        yield copy
