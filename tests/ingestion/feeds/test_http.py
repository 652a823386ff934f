"""How a service is asked: bounded, patient, to one host, and its key is nobody else's."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from ingestion.client import Pace, http_address
from ingestion.feeds import http
from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import ATTEMPTS, Service, parsed
from tests.ingestion.servers import Answer, Server, dribbled, serving, status, whole

KEY = "k3y-that-nobody-may-see"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


def asking(server: Server, pauses: list[float] | None = None, key: str | None = None) -> Service:
    stored = [] if pauses is None else pauses
    return Service(server.url("/api"), key=key, key_setting="FRESHET_X_KEY", allowed=[server.host], pause=stored.append)


def stated(content: object, code: int, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        body = json.dumps(content).encode()
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def test_temporary_failures_are_retried_after_growing_pauses(server: Server) -> None:
    pauses: list[float] = []
    server.answers = [status(500), status(503), whole(b"[1", sent=1), whole(b"[1]")]
    assert asking(server, pauses).read(parsed) == [1]
    assert pauses == [1, 2, 4]


def test_lasting_failures_are_given_up_after_a_few_attempts(server: Server) -> None:
    server.answers = [stated({"description": "the database is away"}, 500)]
    with pytest.raises(FeedProblem, match=rf"500 \(the database is away\) in {ATTEMPTS} attempts"):
        asking(server).read(parsed)
    assert len(server.requests) == ATTEMPTS


@pytest.mark.parametrize("content", [b'{"features": [', b"", b"Unexpected error", b"[nano]", b"[nan", b"[" * 99_999])
def test_incomplete_json_is_retried(server: Server, content: bytes) -> None:
    server.answers = [whole(content), whole(b"{}")]
    assert asking(server).read(parsed) == {}


def test_a_service_that_dribbles_is_asked_once(server: Server) -> None:
    server.answers = [dribbled("body")]
    service = Service(server.url("/api"), allowed=[server.host], pace=Pace(slowest=1000, window=0.3))
    for sentence in ("fewer than 1000 bytes a second", "was too slow before"):
        with pytest.raises(FeedProblem, match=sentence):
            service.read(parsed)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("after", "waits"),
    [
        ("7", 7),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("soon", 1),  # as where the service asks for nothing
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", 1),
        ("Mon, 01 Jan 2020 00:00:00 +99999999999999999999", 1),
    ],
)
def test_a_service_is_left_alone_for_as_long_as_it_asks(server: Server, after: str, waits: float) -> None:
    pauses: list[float] = []
    server.answers = [status(429, Retry_After=after), whole(b"{}")]
    asking(server, pauses).read(parsed)
    assert pauses == [waits]


def test_a_service_that_asks_for_hours_is_not_waited_for(server: Server) -> None:
    pauses: list[float] = []
    server.answers = [status(429, Retry_After="3600")]
    with pytest.raises(FeedProblem, match=r"answers 429, and asks to wait\. Nothing was taken: fetch again later"):
        asking(server, pauses).read(parsed)
    assert (pauses, len(server.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("reason", "waits"), [("Minutely API request limit exceeded.", True), ("Daily API request limit exceeded.", False)]
)
def test_a_limit_of_the_minute_is_waited_for_and_one_of_the_day_is_not(
    server: Server, reason: str, waits: bool
) -> None:
    pauses: list[float] = []
    server.answers = [stated({"error": True, "reason": reason}, 429), whole(b"{}")]
    if waits:
        assert asking(server, pauses).read(parsed) == {}
    else:
        with pytest.raises(FeedProblem, match="Daily API request limit"):
            asking(server, pauses).read(parsed)
    assert pauses == ([60] if waits else [])


def test_a_limit_that_is_used_up_is_not_run_against(server: Server) -> None:
    service = asking(server)
    server.answers = [stated({}, 200, X_RateLimit_Limit="1000", X_RateLimit_Remaining="0")]
    assert service.read(parsed) == {}
    with pytest.raises(FeedProblem, match="limit of requests is used up"):
        service.read(parsed)
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_a_refusal_is_reported_and_not_repeated(server: Server, code: int) -> None:
    server.answers = [stated({"error": {"code": "BAD", "message": "the words\nof the service"}}, code)]
    with pytest.raises(FeedProblem, match=rf"{code} \(the words of the service\)"):
        asking(server).read(parsed)
    assert len(server.requests) == 1


def test_a_refused_key_names_its_setting(server: Server) -> None:
    server.answers = [status(403)]
    with pytest.raises(FeedProblem, match="check its key in FRESHET_X_KEY"):
        asking(server, key=KEY).read(parsed)


def test_an_answer_beyond_measure_is_not_read_to_its_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BYTES", 1000)
    server.answers = [whole(b" " * 10**7)]
    with pytest.raises(FeedProblem, match="more than 1000 bytes"):
        asking(server).read(parsed)


def test_a_server_of_this_machine_is_not_asked(server: Server) -> None:
    server.answers = [whole(b"{}")]
    with pytest.raises(FeedProblem, match="has no public address"):
        Service(server.url()).read(parsed)
    assert server.requests == []


def test_a_redirection_stays_with_the_host(server: Server) -> None:
    with serving() as other:
        other.answers = [whole(b'"stolen"')]
        server.answers = [status(302, Location=other.url())]
        allowed = [server.host, other.host]
        with pytest.raises(FeedProblem, match="leads to another host"):
            Service(server.url(), key=KEY, allowed=allowed).read(parsed)
        assert other.requests == []
    server.answers = [status(302, Location="/second"), whole(b'"moved"')]
    assert asking(server).read(parsed) == "moved"


def test_another_host_is_not_asked_by_a_link(server: Server) -> None:
    with pytest.raises(FeedProblem, match="is not of the service"):
        asking(server, key=KEY).read(parsed, "https://elsewhere.example/items?cursor=A")


def test_a_key_goes_in_a_header_and_is_repeated_nowhere(
    server: Server, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = stated({"error": {"message": f"{'x' * 190} the key {KEY} is not known"}}, 403)
    server.answers = [echo]
    service = asking(server, key=KEY)
    with pytest.raises(FeedProblem) as caught:
        service.read(parsed, "/items", {"site": "1"})
    assert server.requests[0]["X-Api-Key"] == KEY
    assert KEY not in server.requests[0]["path"]
    shown = [str(caught.value), repr(caught.value), repr(service), caplog.text, *capsys.readouterr()]
    assert not [text for text in shown if KEY[:8] in text]


def test_a_key_is_not_sent_over_http_to_a_host_that_nobody_allowed() -> None:
    service = Service("http://data.example/api", key=KEY)
    assert service._headers(http_address("http://data.example/api")) == {}
    assert service._headers(http_address("https://data.example/api")) == {"X-Api-Key": KEY}


def test_a_query_is_not_shown(server: Server) -> None:
    server.answers = [status(404)]
    with pytest.raises(FeedProblem) as caught:
        asking(server).read(parsed, "/items", {"who": "somebody"})
    assert "somebody" not in str(caught.value)
