"""Requests to a service, with timeouts, retries where that is safe and the key in the header only; answers as types."""

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from freshet_client.models import Job, ProblemDetails


class ServiceError(Exception):
    """The service refused a request, or does not answer as a Freshet service does."""


class InvalidAddress(ServiceError, ValueError):  # noqa: N818 - the name of what it reports
    """The address of the service cannot be used."""


class Unreachable(ServiceError):  # noqa: N818 - the name of what it reports
    """The service does not answer, temporarily or permanently."""


class Refused(ServiceError):  # noqa: N818 - the name of what it reports
    """The service refused a request and gave a reason (RFC 9457). The attributes are the service's.

    Attributes:
        type: the kind of problem, which never changes.
        title: the kind in words.
        status: of HTTP.
        detail: what is wrong this time, and how to mend it.
        errors: the fields that cannot be used, where the request has any.
    """

    def __init__(self, request: str, problem: ProblemDetails) -> None:
        super().__init__(f"The service refused {request}: {problem.detail}")
        self.type, self.title, self.status = problem.type, problem.title, problem.status
        self.detail, self.errors = problem.detail, tuple(problem.errors)


class JobFailed(ServiceError):  # noqa: N818 - the name of what it reports
    """A job failed or was cancelled; `job` is its last state."""

    def __init__(self, job: Job) -> None:
        detail = None if job.problem is None else job.problem.detail
        super().__init__(f"Job {job.id} {job.status}: {why_ended(job.status, detail)}")
        self.job = job


def why_ended(status: str, detail: str | None) -> str:
    """Return why a job failed or was cancelled, in words: its own where they are shown."""
    return detail or _DEFAULT_REASONS[status]


_DEFAULT_REASONS = {"failed": "its reason is shown to the key that posted it.", "cancelled": "somebody asked for it."}

CONNECTING, ANSWERING = 5.0, 30.0  # seconds
ATTEMPTS = 4
MAX_WAIT = 30.0  # seconds between two of them
FIRST_WAIT = 0.4  # seconds at most, where the service names none; each further wait may be twice as long
_FOR_NOW = (429, 502, 503, 504)
_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the service.

    Attributes:
        query, headers: without those that are None.
        body: sent as JSON, or as it is where it is bytes.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: BaseModel | Mapping[str, Any] | bytes | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path.partition('?')[0]}"

    @property
    def options(self) -> dict[str, Any]:
        """What httpx2 sends beside method and path."""
        options: dict[str, Any] = {"headers": {name: text for name, text in self.headers.items() if text is not None}}
        if query := {name: _text(value) for name, value in self.query.items() if value is not None}:
            options["params"] = query
        if isinstance(self.body, bytes):
            options["content"] = self.body
        elif self.body is not None:
            options["content"] = _ANY.dump_json(self.body, by_alias=True, exclude_unset=True)
            options["headers"]["Content-Type"] = "application/json"
        return options


class Connection:
    """Talks to one service, and to no other; the arguments are those of `Client`."""

    def __init__(
        self, address: str, key: str | None, on_behalf_of: str | None, transport: httpx2.BaseTransport | None
    ) -> None:
        self.address = _checked(address)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        headers |= {} if on_behalf_of is None else {"X-Forwarded-For": on_behalf_of}
        timeout = httpx2.Timeout(ANSWERING, connect=CONNECTING)
        # No redirect is followed and no environment read: the key is sent to its own service only.
        self._http = httpx2.Client(
            base_url=self.address, headers=headers, timeout=timeout, trust_env=False, transport=transport
        )

    def close(self) -> None:
        """Close it."""
        self._http.close()

    def is_up(self, path: str) -> bool:
        """Return whether a path answers with 200, without retries."""
        try:
            return self._http.get(path).status_code == httpx2.codes.OK
        except httpx2.TransportError:
            return False

    def send(self, request: Request) -> bytes:
        """Send a request and return the answer; a reading is tried again while the service is unavailable.

        Raises:
            Refused: the service reports a problem.
            Unreachable: it does not answer.
            ServiceError: it answers otherwise, or leads to another address, where the key is not to go.
        """
        if not request.path.startswith("/") or request.path.startswith("//"):
            raise ServiceError(
                f"{request.path.partition('?')[0]} is not a path of the service: begin it with one slash."
            )
        attempts = ATTEMPTS if request.method == "GET" else 1
        for attempt in range(1, attempts + 1):
            try:
                answer = self._http.request(request.method, request.path, **request.options)
            except httpx2.TransportError as error:
                if attempt == attempts:
                    raise Unreachable(f"The service at {self.address} does not answer ({error}).") from error
                time.sleep(_wait(attempt))
                continue
            if answer.status_code not in _FOR_NOW or attempt == attempts:
                break
            time.sleep(_wait(attempt, answer.headers.get("Retry-After", "")))
        _raise_for(answer, request)
        return answer.content


def _raise_for(answer: httpx2.Response, request: Request) -> None:
    if answer.is_success:
        return
    if answer.is_redirect:
        raise ServiceError(f"{request} was sent on to another address: give the service's own one.")
    try:
        problem = ProblemDetails.model_validate_json(answer.content, extra="ignore")
    except ValidationError:
        raise ServiceError(f"{request} was answered {answer.status_code}, not by a service of Freshet.") from None
    raise Refused(str(request), problem)


def _wait(attempt: int, asked: str = "") -> float:
    """Return the seconds until the next attempt: the service's Retry-After, up to a limit."""
    if asked.isdecimal():
        return min(float(asked), MAX_WAIT)
    return random.uniform(0, FIRST_WAIT * 2 ** (attempt - 1))


def _text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        keyed = "@" in parts.netloc
    except ValueError:
        usable = keyed = False
    if keyed:
        raise InvalidAddress("The address holds a name or a password: give the key by itself.")
    if not usable:
        raise InvalidAddress(f"{address!r} is not the address of a service: write one like http://127.0.0.1:8000.")
    return address.rstrip("/")


Answer = TypeVar("Answer", bound=BaseModel)


class BaseClient:
    """Sends requests on a connection and reads the answers."""

    _connection: Connection

    def _content(self, request: Request) -> bytes:
        return self._connection.send(request)

    def _answer(self, model: type[Answer], request: Request) -> Answer:
        """Return an answer as its type; fields that this version does not know are ignored.

        Raises:
            ServiceError: it is another.
        """
        try:
            return model.model_validate_json(self._content(request), extra="ignore")
        except ValidationError:
            raise unknown_answer(model.__name__) from None

    def _items(self, page: type[BaseModel], items: str, request: Request) -> Iterator[Any]:
        """Yield the entries of a list, page after page.

        Args:
            items: the field of a page that holds them.

        Raises:
            ServiceError: pagination leads back to a page already read.
        """
        read: set[str] = set()
        current: Any = self._answer(page, request)
        yield from getattr(current, items)
        while (following := current.next) is not None:
            if following in read:
                raise ServiceError(
                    f"The pages of {request.path} lead back to a page already read: report this to the operator of the "
                    "service."
                )
            read.add(following)
            current = self._answer(page, Request("GET", following))
            yield from getattr(current, items)


def path_of(template: str, **ids: object) -> str:
    """Return the path of an operation with its identifiers, which may hold any character."""
    return template.format_map({name: quote(str(value), safe="") for name, value in ids.items()})


def unknown_answer(what: str) -> ServiceError:
    """Return the error of an answer that this version does not know."""
    return ServiceError(
        f"The answer is not {what} as this version of freshet-client knows it: use the service's version."
    )
