"""Every request has an id, its own or a new one, in its answer and in the log."""

import re

import pytest
from starlette.testclient import TestClient
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from app.http.middleware import FORM, shown_path
from app.main import create_app
from runtime.settings import Settings

NEW = re.compile("[0-9a-f]{16}")


@pytest.mark.parametrize("path", ["/v1/basins", "/v1/nothing", "/health/live", "/v1/basins?x=1", "/"])
def test_an_answer_has_the_id_of_its_request(sqlite_client: TestClient, path: str) -> None:
    assert sqlite_client.get(path, headers={"X-Request-ID": "proxy-7.a_B"}).headers["X-Request-ID"] == "proxy-7.a_B"


@pytest.mark.parametrize("given", [None, "", "a" * 65, "a b", 'a","level":"info', "\u00e4".encode().decode("latin-1")])
def test_a_request_without_an_id_that_may_be_logged_gets_a_new_one(
    sqlite_client: TestClient, given: str | None
) -> None:
    headers = {} if given is None else {b"X-Request-ID": given.encode("latin-1")}
    ids = {sqlite_client.get("/v1/basins", headers=headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(ids) == 2
    assert all(NEW.fullmatch(each) and FORM.fullmatch(each) for each in ids)


def test_log_lines_of_a_request_have_its_id(sqlite_client: TestClient) -> None:
    with capture_logs(processors=[merge_contextvars]) as lines:
        sqlite_client.post("/v1/jobs", headers={"X-Request-ID": "mine", "Authorization": "Bearer none"}, json={})
    of_request = [line for line in lines if line.get("request") == "mine"]
    assert {"key.refused", "request.end"} == {line["event"] for line in of_request}
    end = of_request[-1]
    assert (end["method"], end["path"], end["status"], end["log_level"]) == ("POST", "/v1/jobs", 401, "info")


def test_an_error_is_logged_with_its_traceback_under_the_id_of_the_request(sqlite: str) -> None:
    app = create_app(Settings(database_url=sqlite, broker_url="memory://"))

    @app.get("/fail")
    def fail() -> None:
        raise RuntimeError("of a value")

    with (
        TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client,
        capture_logs(processors=[merge_contextvars]) as lines,
    ):
        client.get("/fail", headers={"X-Request-ID": "mine"})
    failed, end = (line for line in lines if line.get("request") == "mine")
    assert (failed["event"], str(failed["exc_info"])) == ("request.failed", "of a value")
    assert (end["event"], end["status"], end["log_level"]) == ("request.end", 500, "info")


def test_a_path_is_logged_short_and_without_control_characters() -> None:
    shown = shown_path({"path": "/v1/\x1b[2J\u0000\n" + "a" * 10_000})
    assert shown.startswith(r"/v1/\x1b[2J\x00\naaa")
    assert len(shown) < 300
    assert shown_path({"path": "/v1/basins"}) == "/v1/basins"
    assert shown_path({"path": "/behind/mail/unsubscribe/01a1.f00d"}) == "/behind/mail/unsubscribe/..."
