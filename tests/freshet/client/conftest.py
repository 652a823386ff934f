"""A service over a country that was ingested, trained on and forecast."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet_client import Client
from runtime.settings import Settings
from tests.app.conftest import listening


@pytest.fixture(scope="module")
def address(worked_data: Path) -> Iterator[str]:
    """Where it listens."""
    settings = Settings(database_url=f"sqlite:///{worked_data / 'freshet.sqlite'}", broker_url="memory://")
    with listening(settings, log_level="warning") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def service(address: str) -> Iterator[Client]:
    """A client of it, without a key."""
    with Client(address) as client:
        yield client
