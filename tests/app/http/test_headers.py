"""Every answer, errors included, has the headers that tighten a browser's security."""

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from app.main import create_app
from records.database.engine import Database
from runtime.settings import Settings

JSON = "default-src 'none'; frame-ancestors 'none'"


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/basins", 200), ("/v1/nothing", 404), ("/v1/jobs", 401), ("/v1/basins?x=1", 422), ("/openapi.json", 200)],
)
def test_an_answer_may_load_nothing_and_be_framed_nowhere(sqlite_client: TestClient, path: str, status: int) -> None:
    answer = sqlite_client.get(path)
    assert answer.status_code == status
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Content-Security-Policy"].startswith(JSON)
    assert "Strict-Transport-Security" not in answer.headers  # left to the proxy


def test_errors_of_the_service_have_them_too(sqlite: str, sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("ALTER TABLE basins RENAME TO lost"))
    broken = sqlite_client.get("/v1/basins")
    app = create_app(Settings(database_url=sqlite, broker_url="memory://"))

    @app.get("/fail")
    def fail() -> None:
        raise RuntimeError

    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        failed, misnamed = client.get("/fail"), client.get("/fail", headers={"Host": "evil.example"})
    assert [answer.status_code for answer in (broken, failed, misnamed)] == [503, 500, 400]
    for answer in (broken, failed, misnamed):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith(JSON)


def test_a_page_runs_no_inline_script(sqlite_client: TestClient) -> None:
    for path in ("/", "/docs"):
        answer = sqlite_client.get(path)
        assert "<script>" not in answer.text
        policy = {
            name: sources for name, *sources in map(str.split, answer.headers["Content-Security-Policy"].split(";"))
        }
        assert policy["script-src"] == ["'self'"]
        assert policy["frame-ancestors"] == ["'none'"]
        assert answer.headers["X-Frame-Options"] == "DENY"
