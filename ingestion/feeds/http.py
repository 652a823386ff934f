"""Requests to a service over HTTP. One host, limited time and size, retries within the service's rate limit.

A key is sent in a header to that host only, over https (or to a host that the operator allowed by name), and a
service's error message is shown without it.
"""

import json
import math
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from hydrology.base.errors import InvalidInput
from ingestion.base import Files
from ingestion.client import (
    USUAL_PACE,
    AddressProblem,
    Deadline,
    Pace,
    TooSlow,
    UnknownHost,
    get,
    http_address,
    origin,
    public_client,
    shown,
)
from ingestion.feeds.base import FeedProblem
from jobspec.addresses import HostPort

# Texts, which stay as they are, and the spellings that JSON lacks, also of C and of Windows.
_TOKEN = re.compile(
    rb"""(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)|(?<![\w.])[-+]?(?:(?:nan|inf(?:inity)?)\b(?:\(\w*\))?|1\.#\w+)""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class NotANumber:
    """What stands for a number and is none. No arithmetic and no reader of numbers takes it."""

    text: str

    def __str__(self) -> str:
        return self.text


Read = TypeVar("Read")
Params = Mapping[str, str]

ATTEMPTS = 4
MAX_WAIT = 300.0  # seconds between two attempts; if a service asks for more, it is not requested until the next fetch
MAX_SECONDS = 300.0  # for one attempt
MAX_BYTES = 64 * 2**20  # of one answer
_MAX_ERROR_BYTES = 2**16
_MAX_REASON = 200
_MINUTE = 60.0

_PASSING = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}


class Refused(FeedProblem):
    """A service refuses a request as it is, with a status of 400."""


class NotThere(FeedProblem):
    """A service has nothing at an address, with a status of 404."""


class Broken(Exception):  # noqa: N818 - not a fault of ours, and resolved by a retry
    """An answer that a retry may deliver intact. The text describes its fault."""

    def __init__(self, cause: str, wait: float | None = None) -> None:
        super().__init__(cause)
        self.wait = wait


@dataclass(slots=True)
class Service:
    """A service at one address.

    `allowed` hosts, with their ports, need no public address; a service slower than `pace` is not requested again.
    `key_setting` is where the operator sets the key, for errors.
    """

    base: str
    key: str | None = field(default=None, repr=False)
    key_setting: str | None = None
    allowed: Collection[HostPort] = ()
    pause: Callable[[float], None] = time.sleep
    pace: Pace = USUAL_PACE
    _used_up: bool = field(default=False, init=False)
    _is_too_slow: bool = field(default=False, init=False)

    def read(
        self,
        parse: Callable[[bytes], Read],
        path: str = "",
        params: Params | None = None,
        body: object = None,
        media: str = "application/json",
    ) -> Read:
        """Request a part of the service, and parse the answer.

        `parse` raises Broken for an incomplete answer. `path` is below the base, or a whole address of the same
        service; `body` is sent as JSON by POST, under the media type.
        """
        address = self._address(path, params)
        content = None if body is None else json.dumps(body).encode()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return parse(self._asked(address, content, media))
            except Broken as broken:
                wait = 2.0 ** (attempt - 1) if broken.wait is None else broken.wait
                if attempt == ATTEMPTS or wait > MAX_WAIT:
                    times = f" in {attempt} attempts" if attempt > 1 else ", and asks to wait"
                    raise FeedProblem(
                        f"{shown(address)}: {broken}{times}. Nothing was taken: fetch again later, and if it goes on, "
                        "check the service and the settings of the feed."
                    ) from None
                self.pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def is_own(self, address: str) -> bool:
        """Return whether an address belongs to this service. The same scheme, host and port."""
        try:
            return origin(http_address(address)) == origin(http_address(self.base))
        except InvalidInput:
            return False

    def _address(self, path: str, params: Params | None) -> httpx2.URL:
        whole = path if "://" in path else f"{self.base.rstrip('/')}{path}"
        address = http_address(whole)
        if not self.is_own(whole):
            raise FeedProblem(f"{shown(address)} is not of the service {shown(http_address(self.base))}.")
        return address if params is None else address.copy_with(params=dict(params))

    def _asked(self, address: httpx2.URL, content: bytes | None, media: str) -> bytes:
        if self._used_up:
            raise FeedProblem(
                f"{shown(address)}: the service's limit of requests is used up. Fetch again when it has been renewed."
            )
        if self._is_too_slow:
            raise FeedProblem(
                f"{shown(address)}: the service was too slow before, and is left alone. Fetch again later."
            )
        try:
            headers = self._headers(address) | ({} if content is None else {"Content-Type": media})
            with (
                public_client(Deadline(MAX_SECONDS), self.allowed, self.pace) as client,
                get(client, address, headers, content, same_origin=True) as response,
            ):
                return self._body(address, response)
        except UnknownHost as problem:
            raise Broken(str(problem).rstrip(".")) from None
        except AddressProblem as problem:
            self._is_too_slow = isinstance(problem, TooSlow)
            raise FeedProblem(f"{shown(address)} cannot be asked. {problem}") from None
        except httpx2.TransportError as error:
            raise Broken(f"the connection failed ({type(error).__name__})") from None

    def _headers(self, address: httpx2.URL) -> dict[str, str]:
        host, port = address.host.lower(), address.port or (443 if address.scheme == "https" else 80)
        secret = address.scheme == "https" or (host, port) in self.allowed
        return {"X-Api-Key": self.key} if self.key and secret else {}

    def _body(self, address: httpx2.URL, response: httpx2.Response) -> bytes:
        failed = response.status_code != HTTPStatus.OK
        self._used_up = not failed and response.headers.get("X-RateLimit-Remaining", "").strip() == "0"
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if failed and len(body) > _MAX_ERROR_BYTES:
                break
            if len(body) > MAX_BYTES:
                raise FeedProblem(
                    f"{shown(address)}: the answer has more than {MAX_BYTES} bytes: ask for fewer basins or days."
                )
        if failed:
            raise self._refusal(address, response, bytes(body))
        return bytes(body)

    def _refusal(self, address: httpx2.URL, response: httpx2.Response, body: bytes) -> Exception:
        status, reason = response.status_code, self._error_reason(body)
        sentence = f"the service answers {status}{f' ({reason})' if reason else ''}"
        if status in _PASSING:
            return Broken(sentence, _wait(response.headers.get("Retry-After"), reason))
        mend = "check the settings of the feed"
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            mend = f"check its key in {self.key_setting}" if self.key_setting else "it needs a key"
        kind = {HTTPStatus.BAD_REQUEST: Refused, HTTPStatus.NOT_FOUND: NotThere}.get(HTTPStatus(status), FeedProblem)
        return kind(f"{shown(address)}: {sentence}: {mend}.")

    def _error_reason(self, body: bytes) -> str:
        """Return the reason in an error's body, safe for display."""
        try:
            result = _reason(json.loads(body))
        except (ValueError, RecursionError):
            result = ""
        text = result.replace(self.key, "…") if self.key else result
        return "".join(letter if letter.isprintable() else " " for letter in text)[:_MAX_REASON].strip()


def _no_places(places: Sequence[str]) -> tuple[list[Path], Files]:
    raise FeedProblem(f"{', '.join(places)}: no files are read here.")


@dataclass(frozen=True, slots=True)
class FeedAccess:
    """What a feed may reach, and who follows it.

    Attributes:
        hosts: hosts with their ports that need no public address.
        pause: waits seconds between two attempts.
        report: gets notices before the work that they concern.
        read_places: returns the paths of folders, files and URLs, and the files that may be read, while the feed is
            open; by default none.
        data: the folder of the service's data, for what a feed computes once; None: it stores nothing.
    """

    hosts: Collection[HostPort]
    pause: Callable[[float], None]
    report: Callable[[str], None] = lambda _sentence: None
    read_places: Callable[[Sequence[str]], tuple[list[Path], Files]] = _no_places
    data: Path | None = None

    def service(self, url: str, key: str | None = None, key_setting: str | None = None) -> Service:
        """Return the service at a setting's address."""
        return Service(url, key, key_setting, self.hosts, self.pause)


def parsed(body: bytes) -> Any:
    """Parse an answer's JSON, with a `NotANumber` for each NaN and infinity: the rest can be used.

    Broken: it is not JSON, is cut off or is nested too deeply.
    """
    for spelt in (bytes, _with_nan):
        with suppress(ValueError, RecursionError):
            return json.loads(spelt(body), parse_constant=NotANumber)
    raise Broken("the answer is not whole JSON")


def _with_nan(body: bytes) -> bytes:
    return _TOKEN.sub(lambda token: b"NaN" if token["text"] is None else token[0], body)


def _reason(result: Any) -> str:
    """Return the message of an error, which services name differently."""
    if not isinstance(result, dict):
        return ""
    inner = result.get("error")
    candidates = [result.get(name) for name in ("reason", "description", "message", "detail")]
    candidates += [inner.get("message") if isinstance(inner, dict) else inner]
    return next((text for text in candidates if isinstance(text, str)), "")


def _wait(retry_after: str | None, reason: str) -> float | None:
    """Return the seconds that a service asks to wait. Return None where it does not state them."""
    if retry_after is not None:
        return _seconds(retry_after.strip())
    if any(word in reason.lower() for word in ("hourly", "daily", "monthly")):
        return math.inf
    return _MINUTE if "minutely" in reason.lower() else None


def _seconds(retry_after: str) -> float | None:
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
