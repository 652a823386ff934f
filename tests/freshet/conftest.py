"""The command line on a small synthetic country, which is ingested, trained on and forecast once."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from freshet.cli.main import main
from records.database.engine import Database
from tests.logging_state import logging_as_before
from tests.shared_folders import country_until, filled_once

BASINS = ("SYNTH-01", "SYNTH-02", "SYNTH-03")
COPY = "copy"


def settings(**fields: object) -> tuple[str, ...]:
    """Return the options that set fields; two underscores stand for a dot."""
    return tuple(part for name, value in fields.items() for part in ("--set", f"{name.replace('__', '.')}={value}"))


WINDOWS = settings(windows__spinup_days=60, windows__loss_days=60, windows__batch=4)
NETWORK = settings(network__cells=4)
SMALL = (*NETWORK, *WINDOWS, *settings(schedule__steps=6))
PERIODS = ("--train-period", "2001-10-01..2004-09-30", "--validation-period", "2004-10-01..2005-03-31")


@dataclass(frozen=True, slots=True)
class RequestModel:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON value and nothing else."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Freshet:
    """The command line with a data folder of its own."""

    data: Path

    def __call__(self, *arguments: str, **settings: str) -> RequestModel:
        """Run a command in this process, under settings such as FRESHET_CORES="2"."""
        out, err = StringIO(), StringIO()
        with logging_as_before(), pytest.MonkeyPatch.context() as patch:
            for name, value in (environment(self.data) | settings).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["freshet", *arguments])
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
                main()
        return RequestModel(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def environment(data: Path) -> dict[str, str]:
    """Return the environment of a command with a data folder, which trains one member at a time."""
    return {"FRESHET_DATA": str(data), "FRESHET_CORES": "1"}


@pytest.fixture(autouse=True, scope="session")
def _no_settings() -> Iterator[None]:
    """Take away the settings of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("FRESHET_") and name != "FRESHET_CAMELS"]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def country(shared: Path) -> Path:
    """Five years of three basins, 2000-10-01..2005-09-30."""
    return country_until("2005-09-30", shared)


@pytest.fixture(scope="session")
def ingested_data(country: Path) -> Path:
    """A data folder with the country, to be copied."""
    return ingested_from(country)


@pytest.fixture(scope="session")
def worked_data(ingested_data: Path) -> Path:
    """A data folder with the country, a version of two members and a run of 10 days, to be copied."""
    return worked_from(ingested_data)


@pytest.fixture
def freshet(tmp_path: Path) -> Freshet:
    """The command line, without a database."""
    return Freshet(tmp_path / "data")


@pytest.fixture
def empty(freshet: Freshet) -> Freshet:
    """The command line, with an empty database."""
    database = Database(f"sqlite:///{freshet.data / 'freshet.sqlite'}")
    database.migrate()
    database.close()
    return freshet


@pytest.fixture
def ingested(ingested_data: Path, tmp_path: Path) -> Freshet:
    """The command line, with the country ingested."""
    return _with_copy(ingested_data, tmp_path)


@pytest.fixture
def worked(worked_data: Path, tmp_path: Path) -> Freshet:
    """The command line, with the country ingested, trained on and forecast."""
    return _with_copy(worked_data, tmp_path)


def ingested_from(country: Path) -> Path:
    """Ingest a country into a data folder, and return that."""

    def ingest(folder: Path) -> None:
        assert Freshet(folder)("ingest", "camels", "--from", str(country)).code == 0

    return filled_once(country.parent / "ingested", ingest)


def worked_from(ingested_data: Path) -> Path:
    """Train two members and forecast 10 days in a copy of a data folder, and return that."""

    def work(folder: Path) -> None:
        freshet = _with_copy(ingested_data, folder)
        assert freshet("train", *PERIODS, *SMALL, "--members", "2").code == 0
        assert freshet("forecast").code == 0

    return filled_once(ingested_data.parent / "worked", work) / COPY


def _with_copy(data: Path, folder: Path) -> Freshet:
    return Freshet(Path(shutil.copytree(data, folder / COPY)))
