"""The client has a method for every operation of the OpenAPI document, with each of its parameters."""

import inspect
import re
import typing
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

import httpx2
import pytest

from freshet_client import Client, ServiceError
from freshet_client.operations import Operations
from tests import openapi

WITHOUT_METHOD = {"read_job_events": "`wait_for_job` waits for a job; the events are a stream for browsers."}
NO_ARGUMENTS = {
    "fields": "The answer has its type, so it is whole.",
    "if-none-match": "The client holds no copy.",
    "if-range": "The client holds no copy.",
}
OF_A_PAGE = {"after", "limit"}
"""No arguments of a list, of which all pages are read."""
EXAMPLES: dict[Any, Any] = {
    int: 3,
    float: 1.5,
    bool: True,
    bytes: b"a,b",
    date: date(2008, 4, 1),
    datetime: datetime.fromisoformat("2008-04-01T00:00:00+00:00"),
}
METHODS = dict(inspect.getmembers(Operations, lambda one: inspect.isfunction(one) and not one.__name__.startswith("_")))


def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return method, path and description of each operation that has a method, by its id."""
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, of_path in openapi.paths().items()
        for method, operation in of_path.items()
        if operation["operationId"] not in WITHOUT_METHOD
    }


def example_of(annotation: Any) -> Any:
    """Return a value of a type."""
    if typing.get_origin(annotation) in (typing.Union, type(str | None)):
        annotation = next(one for one in typing.get_args(annotation) if one is not type(None))
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)[-1]
    return EXAMPLES.get(annotation, {} if inspect.isclass(annotation) and annotation is not str else "a-1")


def sent(name: str) -> httpx2.Request:
    """Return what a method asks a service for that refuses everything, with a value for each of its arguments."""
    requests: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(404)

    with Client("http://rivers.example", transport=httpx2.MockTransport(refuse)) as client, suppress(ServiceError):
        method = getattr(client, name)
        hints = typing.get_type_hints(method)
        answer = method(**{one: example_of(hints[one]) for one in inspect.signature(method).parameters})
        if isinstance(answer, Iterator):
            next(answer)
    (request,) = requests
    return request


def test_every_operation_has_its_method() -> None:
    assert METHODS.keys() == operations().keys()


@pytest.mark.parametrize("place", ["query", "header"])
def test_every_parameter_is_an_argument(place: str) -> None:
    for name, (method, path, operation) in operations().items():
        request = sent(name)
        assert request.method == method
        assert re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.raw_path.partition(b"?")[0].decode()), name
        parameters = {one["name"] for one in operation.get("parameters", ()) if one["in"] == place} - {*NO_ARGUMENTS}
        arguments = {*request.url.params} if place == "query" else {*request.headers} & parameters
        assert arguments | OF_A_PAGE & parameters == parameters, name


def test_a_body_is_sent_where_the_operation_takes_one() -> None:
    for name, (_, _, operation) in operations().items():
        content = operation.get("requestBody", {}).get("content", {})
        assert (sent(name).headers.get("Content-Type") in content) == bool(content), name
