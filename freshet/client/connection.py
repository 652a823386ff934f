"""Requests to one service, with timeouts, retries where that is safe, and the key in the header only."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from freshet.client.problems import ServiceError, Unreachable, raise_for
from hydrology.base.errors import InvalidInput

CONNECTING, ANSWERING = 5.0, 30.0  # seconds
ATTEMPTS = 4
MAX_WAIT = 30.0  # seconds between two of them
_FOR_NOW = (429, 502, 503, 504)
_waits = wait_random_exponential(multiplier=0.2, max=5)


class _NotNow(Exception):  # noqa: N818 - no error yet
    """An answer after which a retry may succeed."""

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


class Connection:
    """Talks to one service, and to no other.

    Args:
        address: of the service, such as https://rivers.example.
        key: sent with every request, unless None.
        on_behalf_of: the address of the client that the requests are for, which a service that trusts this one counts.

    Raises:
        InvalidInput: it is not an address, or it contains a user name or password.
    """

    def __init__(self, address: str, key: str | None, on_behalf_of: str | None = None) -> None:
        self.address = _checked(address)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        headers |= {} if on_behalf_of is None else {"X-Forwarded-For": on_behalf_of}
        timeout = httpx2.Timeout(ANSWERING, connect=CONNECTING)
        # No redirect is followed and no environment read: the key is sent to its own service only.
        self._http = httpx2.Client(base_url=self.address, headers=headers, timeout=timeout, trust_env=False)

    def close(self) -> None:
        """Close it."""
        self._http.close()

    def is_up(self, path: str) -> bool:
        """Return whether a path answers with 200, without retries."""
        try:
            return self._http.get(path).status_code == httpx2.codes.OK
        except httpx2.TransportError:
            return False

    def get(self, path: str, params: dict[str, Any], headers: Mapping[str, str] | None = None) -> bytes:
        """Return the content at a path, with retries while the service is unavailable.

        Raises:
            Refused, ServiceError: as `problems.raise_for`, or the service cannot be reached.
        """
        request = f"GET {path.partition('?')[0]}"
        if not path.startswith("/") or path.startswith("//"):
            raise ServiceError(f"{path.partition('?')[0]} is not a path of the service: begin it with one slash.")
        attempts = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=_wait,
            retry=retry_if_exception_type((_NotNow, httpx2.TransportError)),
            reraise=True,
        )
        given = {name: value for name, value in params.items() if value is not None}
        try:
            answer = attempts(self._once, path, given, headers)
        except _NotNow as refusal:
            answer = refusal.answer
        except httpx2.TransportError as error:
            raise self._silent(error) from error
        raise_for(answer, request)
        return answer.content

    def send(self, method: str, path: str, **request: Any) -> bytes:
        """Send a writing request, once, and return the answer.

        Args:
            request: what httpx takes: `json`, `content`, `headers`, `params`.

        Raises:
            Refused, ServiceError: as `get`.
        """
        try:
            answer = self._http.request(method, path, **request)
        except httpx2.TransportError as error:
            raise self._silent(error) from error
        raise_for(answer, f"{method} {path}")
        return answer.content

    def _once(self, path: str, params: dict[str, Any], headers: Mapping[str, str] | None) -> httpx2.Response:
        answer = self._http.get(path, params=params or None, headers=headers)
        if answer.status_code in _FOR_NOW:
            raise _NotNow(answer)
        return answer

    def _silent(self, error: Exception) -> Unreachable:
        return Unreachable(f"The service at {self.address} does not answer ({error}).")


def _wait(state: RetryCallState) -> float:
    """Return the seconds until the next attempt: the service's Retry-After, up to a limit."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.answer.headers.get("Retry-After", "") if isinstance(error, _NotNow) else ""
    return min(float(asked), MAX_WAIT) if asked.isdecimal() else _waits(state)


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        keyed = "@" in parts.netloc
    except ValueError:
        usable = keyed = False
    if keyed:
        raise InvalidInput("The address holds a name or a password: give the key by itself.")
    if not usable:
        raise InvalidInput(f"{address!r} is not the address of a service: write one like http://127.0.0.1:8000.")
    return address.rstrip("/")
