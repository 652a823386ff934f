"""Errors of the client: refused requests and unreachable services."""

from typing import TYPE_CHECKING

import httpx2
from pydantic import ValidationError

from hydrology.base.errors import Problem

if TYPE_CHECKING:
    from app.http.problems import ProblemDetails


class ServiceError(Problem):
    """The service refused a request, or does not answer as a Freshet service does."""

    kind = "service-error"
    exit_code = 5


class Unreachable(ServiceError):  # noqa: N818 - as `Problem` is named
    """The service does not answer, temporarily or permanently."""


class Refused(ServiceError):  # noqa: N818 - as `Problem` is named
    """The service refused a request and gave a reason (RFC 9457). The attributes are the service's.

    Attributes:
        type: the kind of problem, which never changes.
        title: the kind in words.
        status: of HTTP.
        detail: what is wrong this time, and how to mend it.
        errors: the fields that cannot be used, where the request has any.
    """

    def __init__(self, request: str, problem: "ProblemDetails") -> None:
        super().__init__(f"The service refused {request}: {problem.detail}")
        self.type, self.title, self.status = problem.type, problem.title, problem.status
        self.detail, self.errors = problem.detail, tuple(problem.errors)


def raise_for(answer: httpx2.Response, request: str) -> None:
    """Raise the error that an answer reports, unless it is a success.

    Raises:
        Refused: the service reports a problem.
        ServiceError: it answers otherwise, or sends the request on to another address, where the key is not to go.
    """
    if answer.is_success:
        return
    if answer.is_redirect:
        raise ServiceError(f"{request} was sent on to another address: give the service's own one.")
    from app.http.problems import ProblemDetails  # with all that an API needs

    try:
        problem = ProblemDetails.model_validate_json(answer.content, extra="ignore")
    except ValidationError:
        raise ServiceError(f"{request} was answered {answer.status_code}, not by a service of Freshet.") from None
    raise Refused(request, problem)
