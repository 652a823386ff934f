"""Requests to one service, with timeouts, retries where that is safe, and the key in the header only."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from freshet_client.errors import InvalidAddress, Refused, ServiceError, Unreachable
from freshet_client.models import ProblemDetails

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
    """Talks to one service, and to no other.

    Args:
        address: of the service, such as https://rivers.example.
        key: sent with every request, unless None.
        on_behalf_of: the address of the client that the requests are for, which a service that trusts this one counts.
        transport: of httpx2, in place of its own.

    Raises:
        InvalidAddress: it is not an address, or it contains a user name or password.
    """

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
