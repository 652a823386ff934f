"""Shows errors of pages as pages."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from app.http.error_answers import faults_of
from app.http.problems import InvalidRequest, Unauthorized, title_of
from app.pages.render import render
from hydrology.base.errors import Problem

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(frozen=True, slots=True)
class Failed:
    """Contents of the error page; `needs_key`: whether a key would open it."""

    title: str
    detail: str
    needs_key: bool


class PageRoute(APIRoute):
    """A route whose problems are pages."""

    def get_route_handler(self) -> Handler:
        """Return the handler of the page."""
        read = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await read(request)
            except RequestValidationError as error:
                return _page(request, InvalidRequest(faults_of(request, error)))
            except Problem as problem:
                if type(problem).status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise
                return _page(request, problem)

        return handle


def _page(request: Request, problem: Problem) -> Response:
    status = type(problem).status
    failed = Failed(title_of(problem.kind), str(problem), isinstance(problem, Unauthorized))
    return render(request, "errors/failed.html", failed, status)
