"""/problems/KIND: meaning and remedy of each kind of problem, where every `type` of an error leads."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from app.http.problems import meaning_of, title_of
from app.pages.render import render
from hydrology.base.errors import NotFound, Problem

router = APIRouter(prefix="/problems", include_in_schema=False)


class UnknownProblem(NotFound):
    """There is no kind of problem with that name."""

    kind = "unknown-problem"


@router.get("/{kind}")
def read_problem(request: Request, kind: str, accept: Annotated[str, Header()] = "*/*") -> Response:
    """Return the meaning and remedy of a kind of problem, as a page or JSON."""
    of_kind = next((problem for problem in _all(Problem) if problem.kind == kind), None)
    if of_kind is None:
        raise UnknownProblem(f"No kind of problem is called {kind[:64]!r}: take the `type` of an error as it is.")
    contents = {
        "type": f"/problems/{kind}",
        "title": title_of(kind),
        "status": of_kind.status,  # of the answer
        "meaning": meaning_of(of_kind),
        "mending": of_kind.remedy,
    }
    if "application/json" in accept and "text/html" not in accept:
        return JSONResponse(contents)
    return render(request, "errors/problem.html", SimpleNamespace(**contents))


def _all(above: type[Problem]) -> Iterator[type[Problem]]:
    yield above
    for problem in above.__subclasses__():
        yield from _all(problem)
