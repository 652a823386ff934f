"""The address of a client: the peer, or the one that a trusted proxy reports."""

import httpx2
import pytest

from app.http.server import options
from records.access import audit
from records.database.engine import Database
from runtime.settings import Settings
from tests.app.conftest import PATIENCE, bearer, listening

pytestmark = pytest.mark.usefixtures("within_a_minute")

PEER = "127.0.0.1"
FORECAST = {"kind": "forecast", "params": {}}


def named(url: str, *proxies: str) -> Settings:
    """Return settings that name proxies and allow an address one request."""
    return Settings(database_url=url, broker_url="memory://", trusted_proxies=proxies, requests_per_minute=1)


def statuses(settings: Settings, *forwarded_for: str) -> list[int]:
    """Return how requests end that this machine sends, each with a word on where it comes from."""
    with listening(settings, **options(settings)) as port:
        address = f"http://{PEER}:{port}/v1/basins"
        with httpx2.Client(timeout=PATIENCE) as client:
            return [client.get(address, headers={"X-Forwarded-For": result}).status_code for result in forwarded_for]


@pytest.mark.parametrize("proxies", [(), ("192.0.2.1",)])
def test_forwarded_headers_of_an_untrusted_peer_change_nothing(sqlite: str, proxies: tuple[str, ...]) -> None:
    assert statuses(named(sqlite, *proxies), "198.51.100.1", "198.51.100.2") == [200, 429]


def test_clients_behind_a_named_proxy_are_counted_each_by_itself(sqlite: str) -> None:
    settings = named(sqlite, "127.0.0.0/8")
    assert statuses(settings, "198.51.100.1", "198.51.100.2", "198.51.100.1") == [200, 200, 429]


def test_an_address_that_the_client_forged_is_not_believed(sqlite: str) -> None:
    settings = named(sqlite, PEER)
    assert statuses(settings, "203.0.113.1, 198.51.100.1", "203.0.113.2, 198.51.100.1") == [200, 429]


@pytest.mark.parametrize(("proxies", "address"), [((), PEER), ((PEER,), "198.51.100.1")])
def test_the_trail_names_the_address_that_is_counted(
    sqlite: str, sqlite_database: Database, proxies: tuple[str, ...], address: str
) -> None:
    settings = named(sqlite, *proxies)
    header = bearer(sqlite_database) | {"X-Forwarded-For": "198.51.100.1"}
    with listening(settings, **options(settings)) as port:
        answer = httpx2.post(f"http://{PEER}:{port}/v1/jobs", json=FORECAST, headers=header, timeout=PATIENCE)
        assert answer.status_code == 202
    with sqlite_database.reading() as session:
        assert [entry.address for entry in audit.page(session)] == [address]
