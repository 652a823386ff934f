"""Every error is a problem with its remedy, and reveals no internals."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from app.http.error_answers import handle
from app.http.problems import ProblemDetails, documented
from app.main import create_app
from hydrology.base.errors import DataProblem, InvalidInput, NotFound, Problem
from records.basins.basins import UnknownBasin
from records.database.checksums import Corrupt
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from runtime.settings import Settings
from tests.app.conftest import bearer, serving


def test_a_kind_has_the_status_of_the_nearest_class() -> None:
    class New(UnknownBasin):
        kind = "new"

    expected = {New: 404, NotFound: 404, InvalidInput: 422, DataProblem: 409, Corrupt: 500, DatabaseProblem: 503}
    assert {kind: kind.status for kind in expected} == expected


def test_a_problem_is_answered_with_its_kind() -> None:
    app = FastAPI()
    handle(app)

    @app.get("/here")
    def refuse() -> None:
        raise UnknownBasin("No basin 'X' is stored here: list the basins.")

    answer = TestClient(app).get("/here?q=1")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json() == {
        "type": "/problems/unknown-basin",
        "title": "Unknown basin",
        "status": 404,
        "detail": "No basin 'X' is stored here: list the basins.",
        "instance": "/here",
    }


def test_an_unknown_parameter_is_refused_and_the_known_ones_named(sqlite_client: TestClient) -> None:
    answer = sqlite_client.get("/v1/basins?limit=5&query=fish&page=2")
    assert answer.status_code == 422
    result = answer.json()
    assert [(fault["location"], fault["field"]) for fault in result["errors"]] == [
        ("query", "query"),
        ("query", "page"),
    ]
    known = "Unknown here: use q, after, limit, format, fields, huc, bbox, region."
    assert [fault["detail"] for fault in result["errors"]] == [known] * 2


@pytest.mark.parametrize("address", ["/v1/basins/01013500", "/health/live"])
def test_an_address_without_parameters_refuses_any(sqlite_client: TestClient, address: str) -> None:
    answer = sqlite_client.get(address, params={"units": "cfs"})
    assert answer.status_code == 422
    assert "takes no parameters" in answer.json()["errors"][0]["detail"]


@pytest.mark.parametrize("address", ["/nothing", "/v1/nothing", "/static-offline-docs/nothing.js"])
def test_an_unknown_address_is_a_problem(sqlite_client: TestClient, address: str) -> None:
    answer = sqlite_client.get(address)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("address", "methods", "choice"),
    [
        ("/v1/status", ["GET", "HEAD"], "GET or HEAD"),
        ("/v1/jobs", ["GET", "HEAD", "POST"], "GET, HEAD or POST"),
        ("/v1/jobs/one/cancel", ["POST"], "POST"),
        ("/docs", ["GET", "HEAD"], "GET or HEAD"),
        ("/static-offline-docs/v1/jobs", ["GET", "HEAD"], "GET or HEAD"),
        ("/v1/schedules/daily", ["DELETE", "GET", "HEAD", "PUT"], "DELETE, GET, HEAD or PUT"),
    ],
)
def test_another_method_is_a_problem_that_names_the_allowed_ones(
    sqlite_client: TestClient, address: str, methods: list[str], choice: str
) -> None:
    answer = sqlite_client.request("PROPFIND", address)
    assert (answer.status_code, answer.json()["type"]) == (405, "/problems/method-not-allowed")
    assert answer.headers["Allow"] == ", ".join(methods)
    assert answer.json()["detail"].endswith(f"use {choice}.")


def test_a_failure_reveals_no_internals() -> None:
    app = FastAPI()
    handle(app)

    @app.get("/here")
    def fail() -> None:
        raise RuntimeError("the secret inside")

    answer = TestClient(app, raise_server_exceptions=False).get("/here")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal")
    assert "secret" not in answer.text


def test_a_database_that_fails_is_a_503(database_url: str) -> None:
    with serving(database_url) as client:
        ruin = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
        with ruin.begin() as connection:
            connection.execute(text("DROP TABLE basin_areas"))
            connection.execute(text("ALTER TABLE basins RENAME TO lost"))
        ruin.dispose()
        answer = client.get("/v1/basins")
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/database")
    assert "SELECT" not in answer.text


def test_a_service_does_not_start_without_its_tables(tmp_path: Path) -> None:
    app = create_app(Settings(database_url=f"sqlite:///{tmp_path / 'none.sqlite'}"))
    with pytest.raises(DatabaseProblem, match="There is no database at"), TestClient(app):
        pass


def test_readiness_follows_the_database(database: Database, client: TestClient) -> None:
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    with database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'other'"))
    unready = client.get("/health/ready")
    assert (unready.status_code, unready.json()["type"]) == (503, "/problems/database")
    assert "revision other" in unready.json()["detail"]
    assert database.shown not in unready.text
    assert client.get("/health/live").json() == {"status": "alive"}


def test_a_database_that_is_gone_is_not_ready(sqlite: str, sqlite_client: TestClient) -> None:
    Path(sqlite.removeprefix("sqlite:///")).unlink()
    answer = sqlite_client.get("/health/ready")
    assert answer.status_code == 503
    assert "cannot be reached" in answer.json()["detail"]


def test_documented_problems_are_valid_and_grouped_by_status() -> None:
    class Odd(Problem):
        """Something odd."""

        kind = "odd"

    responses = documented(UnknownBasin, Odd)
    assert set(responses) == {404, 422, 429, 500, 503}
    assert set(responses[500]["content"]["application/json"]["examples"]) == {"odd", "internal"}
    for response in responses.values():
        for example in response["content"]["application/json"]["examples"].values():
            ProblemDetails.model_validate(example["value"])


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "header", "sentence"),
    [
        (b"", JSON, "body: It is empty: send a JSON object"),
        (b"{}", {"Content-Type": "text/plain"}, "Content-Type: application/json, not text/plain."),
        (b"{}", {}, "body: Send JSON with the header Content-Type: application/json."),
        (b'{"kind": ', JSON, "body: It is not JSON (Expecting value, character 9): send JSON"),
        (b"[]", JSON, 'body: It must be a JSON object, {"name": value}.'),
        (b"null", JSON, "body: "),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused_with_what_to_send(
    sqlite_database: Database, sqlite_client: TestClient, body: bytes, header: dict[str, str], sentence: str
) -> None:
    answer = sqlite_client.post("/v1/jobs", content=body, headers=bearer(sqlite_database) | header)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "")
    assert sentence in answer.json()["detail"]


@pytest.mark.parametrize(
    "address",
    [
        *("/v1/runs/a%0A", "/v1/runs/a.b", "/v1/feeds/%2e%2e", "/v1/jobs/.a"),
        *("/v1/basins/01013500%0A", "/v1/basins/SYNTH-..", "/v1/basins/%2001013500"),
        *("/v1/runs?after=none", "/v1/jobs?after=a%0A", "/v1/basins?after=01013500%0A", "/v1/alerts?after=a/b"),
    ],
)
def test_an_identifier_or_cursor_of_another_form_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, address: str
) -> None:
    answer = sqlite_client.get(address, headers=bearer(sqlite_database))
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")


def test_every_documented_problem_has_a_page_with_its_remedy(sqlite_client: TestClient) -> None:
    paths = sqlite_client.get("/openapi.json").json()["paths"]
    operations = [operation for path in paths.values() for operation in path.values()]
    answers = [answer for operation in operations for answer in operation["responses"].values()]
    contents = [content for answer in answers for content in answer.get("content", {}).values()]
    values = [example["value"] for content in contents for example in content.get("examples", {}).values()]
    types = {value["type"] for value in values if "detail" in value}
    assert len(types) > 40
    for kind in {*types, "/problems/not-found", "/problems/method-not-allowed"}:
        page = sqlite_client.get(kind, headers={"Accept": "text/html"})
        problem = sqlite_client.get(kind, headers={"Accept": "application/json"}).json()
        assert page.headers["Content-Type"].startswith("text/html")
        assert "<script" not in page.text
        assert problem["type"] == kind
        assert f"<h1>{problem['title']}</h1>" in page.text
        assert problem["meaning"].endswith(".")
        assert problem["mending"].endswith(".")


def test_a_type_that_does_not_exist_is_answered_as_a_problem(sqlite_client: TestClient) -> None:
    assert sqlite_client.get("/problems/no-such-thing").json()["type"] == "/problems/unknown-problem"
