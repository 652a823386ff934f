"""The client has a method for every operation of the OpenAPI document, with each of its parameters."""

import inspect
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from freshet.client import Client, ServiceError
from tests import openapi
from tests.ingestion.servers import serving, status

EXCEPTIONS = {
    "read_job_events": "`watch` waits for a job; the events are a stream for browsers.",
    "read_liveness": "It is for supervisors of processes.",
    "read_metrics": "It is Prometheus's text.",
    **dict.fromkeys(
        ("read_alert_feed", "read_cap_index", "read_cap_message"), "Atom and CAP have readers of their own."
    ),
    **dict.fromkeys(
        (
            *("read_edr", "read_edr_conformance", "list_edr_collections", "read_edr_collection", "list_edr_locations"),
            *("list_edr_instances", "read_edr_instance", "list_edr_instance_locations"),
            *(
                f"read_edr_{of}{query}"
                for of in ("", "instance_")
                for query in ("location", "position", "area", "cube")
            ),
        ),
        "OGC API - EDR has clients of its own.",
    ),
}
OF_THE_CLIENT = ("close", "get", "open_archive", "watch")
"""Methods that are not of one operation."""
NO_ARGUMENTS = {
    "format": "The answer is parsed, so it is JSON.",
    "fields": "The answer has its type, so it is whole.",
    "after": "All pages are read.",
    "limit": "All pages are read.",
}
EXAMPLES: Mapping[Any, Any] = {
    str: "011ccb1a3a8003f9c24d1e",
    int: 3,
    float: 1.5,
    bool: True,
    bytes: b"a,b",
    date: date(2008, 4, 1),
    datetime: datetime.fromisoformat("2008-04-01T00:00:00+00:00"),
}
DOCUMENT = openapi.paths()


class Asked(typing.NamedTuple):
    """What a method asks the service for."""

    operation: str
    parameters: set[str]


def example_of(annotation: Any) -> Any:
    """Return a value of a type."""
    if typing.get_origin(annotation) in (typing.Union, type(str | None)):
        annotation = next(one for one in typing.get_args(annotation) if one is not type(None))
    origin = typing.get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return ["SYNTH-01"]
    return EXAMPLES.get(annotation, {})


def operation_at(method: str, path: str) -> str:
    """Return the operation of an address: the one with the fewest parameters in its path."""
    found = [
        (template.count("{"), one["operationId"])
        for template, operations in DOCUMENT.items()
        for verb, one in operations.items()
        if verb.upper() == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    ]
    operation: str = min(found)[1]
    return operation


@pytest.fixture(scope="module")
def asked() -> dict[str, Asked]:
    """What each method asks for, as a server receives it that refuses everything."""
    with serving() as server, Client(server.url("/"), key="secret") as client:
        server.answers[:] = [status(HTTPStatus.NOT_FOUND)]
        return dict(_asked(server, client))


def _asked(server: Any, client: Client) -> Iterator[tuple[str, Asked]]:
    for name, method in inspect.getmembers(client, inspect.ismethod):
        if name.startswith("_") or name in OF_THE_CLIENT:
            continue
        hints = typing.get_type_hints(method)
        given = {one: example_of(hints[one]) for one in inspect.signature(method).parameters}
        server.requests.clear()
        with suppress(ServiceError):
            answer = method(**given)
            if isinstance(answer, Iterator):
                next(answer)
        (request,) = server.requests
        parts = urlsplit(request["path"])
        yield name, Asked(operation_at(request["method"], parts.path), set(parse_qs(parts.query)))


def test_every_operation_has_one_method(asked: dict[str, Asked]) -> None:
    documented = {one["operationId"] for operations in DOCUMENT.values() for one in operations.values()}
    of_methods = [one.operation for one in asked.values()]
    assert sorted([*of_methods, *EXCEPTIONS]) == sorted(documented)


def test_every_query_parameter_is_an_argument(asked: dict[str, Asked]) -> None:
    for operations in DOCUMENT.values():
        for one in operations.values():
            if one["operationId"] in EXCEPTIONS:
                continue
            known = {each["name"] for each in one.get("parameters", []) if each["in"] == "query"} - set(NO_ARGUMENTS)
            (sent,) = [each.parameters for each in asked.values() if each.operation == one["operationId"]]
            assert sent - set(NO_ARGUMENTS) == known, one["operationId"]
