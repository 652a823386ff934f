"""The client by itself, on a transport that gives the answers a test chooses."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from freshet_client import Client, InvalidAddress, JobFailed, Refused, ServiceError, Unreachable, connection, models
from freshet_client.connection import path_of

ADDRESS = "http://rivers.example"
BUSY = httpx2.Response(503, headers={"Retry-After": "0"})
INSTANT = "2026-11-20T14:30:13Z"


class Service:
    """Gives its answers one after another, the last one again and again, and records the requests."""

    def __init__(self, *answers: httpx2.Response) -> None:
        self.answers, self.requests = [*answers], list[httpx2.Request]()

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)


def client_of(answer: Callable[[httpx2.Request], httpx2.Response], key: str | None = None) -> Client:
    return Client(ADDRESS, key, transport=httpx2.MockTransport(answer))


def page(*basins: str, following: str | None = None) -> httpx2.Response:
    """Return a page of basins with more fields than this version knows."""
    empty: dict[str, Any] = dict.fromkeys(("name", "latitude", "longitude", "huc", "area"))
    shown = [{"id": basin, "kind": "other", **empty, "missing": {}, "elevation": 12} for basin in basins]
    return httpx2.Response(200, json={"basins": shown, "next": following, "total": 3})


def job(status: str, detail: str | None = None) -> httpx2.Response:
    fields: dict[str, Any] = dict.fromkeys(models.Job.model_fields)
    fields |= {"id": "j1", "kind": "ingest", "status": status, "attempt": 1, "max_attempts": 3, "events": "/v1/jobs/j1"}
    fields |= {"created_at": INSTANT, "problem": detail and {"kind": "storage-full", "detail": detail}, "missing": {}}
    return httpx2.Response(200, json=fields)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again without a wait."""
    monkeypatch.setattr(connection, "FIRST_WAIT", 0)
    monkeypatch.setattr("freshet_client.client.SECONDS_BETWEEN_LOOKS", 0)


def test_a_list_is_read_page_after_page_with_the_key() -> None:
    service = Service(page("SYNTH-01", following="/v1/basins?after=SYNTH-01"), page("SYNTH-02"))
    with client_of(service, key="secret") as client:
        assert [basin.id for basin in client.list_basins(q="SYNTH")] == ["SYNTH-01", "SYNTH-02"]
    assert [str(request.url) for request in service.requests] == [
        f"{ADDRESS}/v1/basins?q=SYNTH&format=json",
        f"{ADDRESS}/v1/basins?after=SYNTH-01",
    ]
    assert {request.headers["Authorization"] for request in service.requests} == {"Bearer secret"}


def test_the_key_goes_to_no_other_host() -> None:
    for following in ("http://other.example/v1/basins", "//other.example/v1/basins"):
        service = Service(page("SYNTH-01", following=following))
        with pytest.raises(ServiceError, match="is not a path of the service"):
            list(client_of(service, key="secret").list_basins())
        assert len(service.requests) == 1
    service = Service(httpx2.Response(307, headers={"Location": "http://other.example/v1/basins"}))
    with pytest.raises(ServiceError, match="sent on to another address"):
        list(client_of(service, key="secret").list_basins())
    assert len(service.requests) == 1


def test_pagination_in_a_circle_ends() -> None:
    service = Service(page("SYNTH-01", following="/v1/basins?after=SYNTH-01"))
    with pytest.raises(ServiceError, match="lead back"):
        list(client_of(service).list_basins())


def test_a_reading_is_tried_again_and_not_for_ever() -> None:
    service = Service(BUSY, httpx2.Response(429), page())
    assert list(client_of(service).list_basins()) == []
    assert len(service.requests) == 3

    for status, times in ((503, connection.ATTEMPTS), (500, 1)):
        service = Service(httpx2.Response(status))
        with pytest.raises(ServiceError, match=f"GET /v1/basins was answered {status}, not by a service of Freshet"):
            list(client_of(service).list_basins())
        assert len(service.requests) == times


def test_a_writing_is_never_repeated() -> None:
    service = Service(BUSY)
    with pytest.raises(ServiceError, match="POST /v1/jobs was answered 503"):
        client_of(service).post_job({"kind": "check", "params": {}})
    assert len(service.requests) == 1


def test_a_service_that_does_not_answer_is_reported() -> None:
    tries = []

    def broken(request: httpx2.Request) -> httpx2.Response:
        tries.append(request)
        raise httpx2.ConnectError("refused", request=request)

    client = client_of(broken)
    assert not client.is_ready()
    with pytest.raises(Unreachable, match=f"The service at {ADDRESS} does not answer"):
        client.read_basin("SYNTH-01")
    assert len(tries) == 1 + connection.ATTEMPTS


def test_a_refusal_carries_the_problem() -> None:
    fault = {"location": "query", "field": "units", "detail": "Unknown here."}
    problem = {
        "type": "/problems/invalid-request",
        "title": "Invalid request",
        "status": 422,
        "detail": "No such unit.",
    }
    service = Service(httpx2.Response(422, json={**problem, "instance": "/v1", "errors": [fault], "trace": "new"}))
    with pytest.raises(Refused, match="The service refused GET /v1/basins/SYNTH-01: No such unit") as refused:
        client_of(service).read_basin("SYNTH-01")
    assert (refused.value.status, refused.value.type) == (422, "/problems/invalid-request")
    assert [one.field for one in refused.value.errors] == ["units"]


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"basins": 3}'])
def test_an_invalid_answer_is_reported(content: bytes) -> None:
    client = client_of(Service(httpx2.Response(200, content=content)))
    with pytest.raises(ServiceError, match="The answer is not BasinPage"):
        list(client.list_basins())
    if not content.startswith((b"[", b"{")):
        with pytest.raises(ServiceError, match="The answer is not /v1/anything"):
            client.get("/v1/anything")


def test_a_body_is_a_model_or_a_mapping_and_holds_what_is_given() -> None:
    service = Service(job("queued"))
    client = client_of(service)
    client.post_job(models.IngestJob(kind="ingest", params=models.IngestParams(from_=["a.zip"])), idempotency_key="a")
    client.post_job({"kind": "ingest", "params": {"from": ["a.zip"]}})
    expected = {"kind": "ingest", "params": {"from": ["a.zip"]}}
    assert [json.loads(request.content) for request in service.requests] == [expected, expected]
    assert [request.headers.get("Idempotency-Key") for request in service.requests] == ["a", None]
    client.post_observations(b"a,b", media_type="text/csv")
    assert service.requests[-1].headers["Content-Type"] == "text/csv"
    assert service.requests[-1].content == b"a,b"


def test_a_file_is_returned_as_it_is() -> None:
    service = Service(httpx2.Response(200, content=b"PAR1"))
    assert client_of(service).read_latest_forecast("SYNTH-01", format="parquet", units="cfs") == b"PAR1"
    assert dict(service.requests[0].url.params) == {"format": "parquet", "units": "cfs"}


def test_an_identifier_stays_one_part_of_a_path() -> None:
    assert path_of("/v1/basins/{basin}/alerts", basin="a/../b?c") == "/v1/basins/a%2F..%2Fb%3Fc/alerts"


def test_a_job_is_waited_for_and_its_failure_raised() -> None:
    looks: list[str] = []
    ended = client_of(Service(job("queued"), job("running"), job("succeeded"))).wait_for_job(
        "j1", lambda current: looks.append(current.status)
    )
    assert (ended.status, looks) == ("succeeded", ["queued", "running", "succeeded"])
    for status, detail, sentence in (
        ("failed", "The disk is full.", "Job j1 failed: The disk is full."),
        ("failed", None, "Job j1 failed: its reason is shown to the key that posted it."),
        ("cancelled", None, "Job j1 cancelled: somebody asked for it."),
    ):
        with pytest.raises(JobFailed, match=sentence) as failed:
            client_of(Service(job(status, detail))).wait_for_job("j1")
        assert failed.value.job.status == status


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:8000", "is not the address of a service"),
        ("ftp://rivers.example", "is not the address of a service"),
        ("http://", "is not the address of a service"),
        ("http://rivers.example/?key=1", "is not the address of a service"),
        ("http://[", "is not the address of a service"),
        ("http://me:secret@rivers.example", "give the key by itself"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(InvalidAddress, match=sentence) as refused:
        Client(address)
    assert "secret" not in str(refused.value)
