"""How answers travel: their heads alone, packed, and to pages of other sites."""

import gzip
from collections.abc import Iterator

import httpx2
import pytest
import zstandard
from starlette.testclient import TestClient

from app.http import server
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import a_claimed_job
from tests.app.conftest import PATIENCE, bearer, listening, serving
from tests.app.exports.conftest import BASINS, FORECAST, FORECASTS

PACKED = ["gzip", "zstd"]


def packed(client: TestClient, address: str, encoding: str, **headers: str) -> dict[str, str]:
    """Return the headers of an answer to who accepts an encoding, after unpacking its body to the plain one."""
    plain = client.get(address, headers={"Accept-Encoding": "identity", **headers}).content
    with client.stream("GET", address, headers={"Accept-Encoding": encoding, **headers}) as answer:
        body = b"".join(answer.iter_raw())
    match answer.headers.get("Content-Encoding"):
        case "gzip":
            body = gzip.decompress(body)
        case "zstd":
            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
    assert body == plain
    return dict(answer.headers)


@pytest.mark.parametrize("encoding", ["identity", *PACKED])
@pytest.mark.parametrize("address", ["/health/live", "/docs", "/openapi.json", "/v1/nothing", FORECAST, BASINS])
def test_head_has_the_headers_of_get_and_no_body(exporting: TestClient, address: str, encoding: str) -> None:
    headers = {"Accept-Encoding": encoding, "X-Request-ID": "both"}
    got, head = exporting.get(address, headers=headers), exporting.head(address, headers=headers)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert int(head.headers["Content-Length"]) > 0
    got_headers, head_headers = ({**answer.headers, "ratelimit": ""} for answer in (got, head))
    assert head_headers == got_headers


def test_head_is_not_a_documented_operation(exporting: TestClient) -> None:
    paths = exporting.get("/openapi.json").json()["paths"]
    assert not [path for path, operations in paths.items() if "head" in operations]


def test_the_server_sends_no_body_after_a_head(sqlite: str) -> None:
    settings = Settings(database_url=sqlite, broker_url="memory://")
    with (
        listening(settings, **server.options(settings)) as port,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE) as client,
    ):
        for address in ("/docs", "/static/pages.css", "/v1/nothing", "/health/live"):
            head = client.head(address)
            assert (head.status_code, head.content) == (client.get(address).status_code, b"")


def test_head_of_a_copy_that_is_still_the_same(exporting: TestClient) -> None:
    tag = exporting.head(FORECAST).headers["ETag"]
    assert exporting.head(FORECAST, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("accept", ["application/json", "text/csv", "application/prs.coverage+json"])
def test_texts_are_compressed_for_clients_that_accept_it(exporting: TestClient, encoding: str, accept: str) -> None:
    headers = packed(exporting, FORECASTS, encoding, Accept=accept)
    assert headers["content-encoding"] == encoding
    assert "Accept-Encoding" in headers["vary"]
    assert "Accept-Encoding" in packed(exporting, FORECASTS, "identity", Accept=accept)["vary"]


@pytest.mark.parametrize("encoding", PACKED)
def test_a_compressed_answer_has_a_weak_tag_that_matches(exporting: TestClient, encoding: str) -> None:
    plain = exporting.get(FORECAST, headers={"Accept-Encoding": "identity"}).headers["ETag"]
    tag = packed(exporting, FORECAST, encoding)["etag"]
    assert (plain[0], tag) == ('"', f"W/{plain}")
    for held in (plain, tag):
        for accepted in ("identity", encoding):
            again = exporting.get(FORECAST, headers={"Accept-Encoding": accepted, "If-None-Match": held})
            assert again.status_code == 304
            assert "Accept-Encoding" in again.headers["Vary"]


@pytest.mark.parametrize("accept", ["application/vnd.apache.parquet", "application/x-netcdf"])
def test_files_with_compression_of_their_own_are_left_as_they_are(exporting: TestClient, accept: str) -> None:
    answer = exporting.get(FORECASTS, headers={"Accept-Encoding": "gzip, zstd", "Accept": accept})
    assert answer.headers["Content-Type"] == accept
    assert "Content-Encoding" not in answer.headers


def test_a_small_answer_is_left_as_it_is(exporting: TestClient) -> None:
    assert "content-encoding" not in packed(exporting, "/health/live", "gzip, zstd")


def test_a_compressed_page_runs_the_same_scripts(exporting: TestClient) -> None:
    plain = exporting.get("/docs", headers={"Accept-Encoding": "identity"}).headers["Content-Security-Policy"]
    assert packed(exporting, "/docs", "gzip")["content-security-policy"] == plain
    assert "script-src 'self'" in plain


def test_an_event_stream_is_never_compressed(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        job = a_claimed_job(session)
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    assert sqlite_client.post(f"/v1/jobs/{job}/cancel").status_code == 200
    headers = {"Accept-Encoding": "gzip, zstd"}
    with sqlite_client.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as events:
        assert "content-encoding" not in events.headers
        assert next(events.iter_raw()).startswith((b":", b"event:", b"id:", b"data:"))


ALLOWED, OTHER = "https://map.example.org", "https://evil.example"


@pytest.fixture
def crossing(sqlite: str) -> Iterator[TestClient]:
    """The service as one other origin may read it."""
    with serving(sqlite, cors_origins=(ALLOWED,)) as client:
        yield client


def test_a_page_of_another_site_reads_nothing_unless_it_is_named(
    sqlite_client: TestClient, crossing: TestClient
) -> None:
    named = "Access-Control-Allow-Origin"
    assert named not in sqlite_client.get(BASINS, headers={"Origin": ALLOWED}).headers
    assert named not in crossing.get(BASINS, headers={"Origin": OTHER}).headers
    answer = crossing.get(BASINS, headers={"Origin": ALLOWED})
    assert answer.headers[named] == ALLOWED
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Origin" in answer.headers["Vary"]
    assert "ETag" in answer.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("method", "headers", "allowed"),
    [("GET", "If-None-Match", True), ("POST", "", False), ("DELETE", "", False), ("GET", "Authorization", False)],
)
def test_a_page_of_another_site_may_read_without_a_key_and_nothing_else(
    crossing: TestClient, method: str, headers: str, allowed: bool
) -> None:
    asked = {"Origin": ALLOWED, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    answer = crossing.options(BASINS, headers=asked)
    assert (answer.status_code == 200) == allowed
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_page_of_another_site_can_read_when_to_retry(sqlite: str) -> None:
    with serving(sqlite, cors_origins=(ALLOWED,), requests_per_minute=1) as client:
        _, refused = (client.get(BASINS, headers={"Origin": ALLOWED}) for _ in range(2))
    assert refused.status_code == 429
    assert refused.headers["Access-Control-Allow-Origin"] == ALLOWED
    assert "Retry-After" in refused.headers["Access-Control-Expose-Headers"]


def test_any_site_may_read_where_all_are_named(sqlite: str) -> None:
    with serving(sqlite, cors_origins=("*",)) as client:
        answer = client.get(BASINS, headers={"Origin": OTHER, "Cookie": "session=1"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer.headers
