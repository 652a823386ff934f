"""An HTTP client for addresses that others name. Public hosts, limited time, redirects checked one by one.

A host that is named by a user, a redirect or a webhook may resolve to this machine, to its private network or to the
metadata service of a cloud. Only the address of the connection counts, however the host was written. Each connection
resolves its host once and uses a checked address, so that neither a redirect nor a second answer of the name service
leads anywhere else. TLS and the Host header use the name. Proxies, passwords of `.netrc` and cookies are not used. It
is our own because no HTTP library lets its caller check the address before it connects.
"""

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from socket import SOCK_STREAM, gaierror, getaddrinfo
from ssl import SSLContext
from typing import Any

import httpcore2
import httpx2

from hydrology.base.errors import InvalidInput, Problem
from jobspec.addresses import HostPort, is_public


class AddressProblem(Problem):
    """A request may not go to its address, or cannot get there."""

    kind = "address"
    exit_code = 4


class ForbiddenAddress(AddressProblem):
    """A host has no public address, and no setting allows it."""


class UnknownHost(AddressProblem):
    """A host's name has no address at all."""


def addresses_of(host: str, port: int, allowed: Collection[HostPort] = ()) -> list[str]:
    """Resolve a host once; return its allowed addresses in the resolver's order.

    `host` may have any notation that the system's resolver accepts (decimal, octal). Hosts in `allowed`, in lower case
    with their ports, may have any address. ForbiddenAddress, where no address is public, does not reveal them.
    """
    try:
        answers = getaddrinfo(host, port, type=SOCK_STREAM)
    except (gaierror, UnicodeError) as error:
        raise UnknownHost(f"The host {host} is not known to the name service: check the address.") from error
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    if (host.lower(), port) in allowed:
        return addresses
    if public := [address for address in addresses if is_public(address)]:
        return public
    raise ForbiddenAddress(
        f"{host}:{port} has no public address, and others are not connected to: an administrator may allow it with "
        f"FRESHET_INGEST_HOSTS={host}:{port}."
    )


# The client logs whole URLs, and a query may carry a secret.
logging.getLogger("httpx2").setLevel(logging.WARNING)

MAX_REDIRECTS = 5
CONNECT_SECONDS = 10
SILENT_SECONDS = 30  # without data from the server


class TooSlow(AddressProblem):
    """The whole request exceeded its time limit, or its answer is too slow."""


class BadRedirect(AddressProblem):
    """A server redirects to an address that the client does not follow."""


class Deadline:
    """The time at which all requests of one piece of work end."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, maximum: float | None = None) -> float:
        """Return the remaining seconds, at most `maximum`; TooSlow if none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TooSlow(
                f"It took longer than {self.seconds:g} seconds, which is the limit. Ask again when it is faster."
            )
        return seconds if maximum is None else min(seconds, maximum)


@dataclass(frozen=True, slots=True)
class Pace:
    """The minimum speed of an answer: bytes per second, over `window` seconds."""

    slowest: float = 1000
    window: float = 60


USUAL_PACE = Pace()


def http_address(url: str) -> httpx2.URL:
    """Parse an http(s) URL without user or password; errors never repeat it."""
    try:
        address = httpx2.URL(url)
        host = address.host
    except (httpx2.InvalidURL, UnicodeError):  # the second: an invalid international name
        # Neither the text nor the parser's message is repeated: it may contain a password.
        raise InvalidInput("The address is not a URL: give http://… or https://….") from None
    if address.scheme not in ("http", "https") or not host:
        raise InvalidInput("The address is neither http nor https: give http://… or https://….")
    if address.userinfo:
        raise InvalidInput("The address holds a user or password, which others could read: give one without.")
    return address


def shown(address: httpx2.URL) -> str:
    """Return an address for display: without user, password, query and fragment."""
    return str(address.copy_with(username=None, password=None, query=None, fragment=None))


def public_client(deadline: Deadline, allowed: Collection[HostPort] = (), pace: Pace = USUAL_PACE) -> httpx2.Client:
    """Return a client that connects to public addresses and to the allowed hosts.

    It follows no redirect by itself. Its requests may raise an AddressProblem, besides the errors of httpx2.
    """
    return httpx2.Client(
        transport=_Transport(deadline, frozenset(allowed), pace),
        timeout=httpx2.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
        # A compressed answer would differ from the file in length, and could unpack to any size.
        headers={"Accept-Encoding": "identity", "User-Agent": "freshet"},
        trust_env=False,
    )


@contextmanager
def get(
    client: httpx2.Client,
    address: httpx2.URL,
    headers: Mapping[str, str],
    content: bytes | None = None,
    *,
    same_origin: bool = False,
) -> Iterator[httpx2.Response]:
    """Request an address, following a few redirects. Yield the answer before its body is read.

    `content` is posted; None: it is got. BadRedirect refuses too many redirects, and one from https to http, to a URL
    with a password, to another protocol or, with `same_origin`, to another host, port or scheme.
    """
    for _ in range(MAX_REDIRECTS + 1):
        with client.stream("GET" if content is None else "POST", address, content=content, headers=headers) as response:
            if not response.has_redirect_location:
                yield response
                return
            target = redirected(address, response.headers["Location"])
        if same_origin and origin(target) != origin(address):
            raise BadRedirect("It leads to another host, which a feed does not follow.")
        address = target
    raise BadRedirect(f"It leads from one address to the next, more than {MAX_REDIRECTS} times.")


def origin(address: httpx2.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port (None: the usual one)."""
    return address.scheme, address.host.lower(), address.port


def redirected(address: httpx2.URL, location: str) -> httpx2.URL:
    """Return the target of a redirect.

    BadRedirect: it is not plain http or https, has a password, or leads from https to http.
    """
    try:
        target = http_address(str(address.join(location)))
    except (InvalidInput, httpx2.InvalidURL, UnicodeError):
        raise BadRedirect("It leads to an address that is neither http nor https, or that holds a password.") from None
    if (address.scheme, target.scheme) == ("https", "http"):
        raise BadRedirect("It leads from https to http, where anybody on the way could change what comes.")
    return target


@cache
def _ssl_context() -> SSLContext:
    """Return what every client trusts: reading the certificates takes longer than a request."""
    return httpx2.create_ssl_context()


class _Transport(httpx2.HTTPTransport):
    """httpx2's transport on checked connections, for which it has no argument: the pool is our own."""

    def __init__(self, deadline: Deadline, allowed: Collection[HostPort], pace: Pace) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_ssl_context(),
            network_backend=_Network(deadline, allowed, pace),
            max_keepalive_connections=0,
        )


class _Network(httpcore2.SyncBackend):
    """Connections to checked addresses only."""

    def __init__(self, deadline: Deadline, allowed: Collection[HostPort], pace: Pace) -> None:
        self._deadline, self._allowed, self._pace = deadline, allowed, pace

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        """Connect to the first of the host's addresses that answers. Raises as `addresses_of` does."""
        *others, last = addresses_of(host, port, self._allowed)
        for address in others:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return self._connected(address, port, timeout, *args, **options)
        return self._connected(last, port, timeout, *args, **options)

    def _connected(
        self, address: str, port: int, timeout: float | None, *args: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(address, port, self._deadline.left(timeout), *args, **options)
        return _Stream(stream, self._deadline, self._pace)


class _Stream(httpcore2.NetworkStream):
    """A connection whose every operation ends by the deadline, so that trickling data do not extend it."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline, pace: Pace) -> None:
        self._stream, self._deadline, self._pace = stream, deadline, pace
        self._window_from, self._bytes = time.monotonic(), 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        part = self._stream.read(max_bytes, self._deadline.left(timeout))
        self._count(len(part))
        return part

    def _count(self, size: int) -> None:
        now = time.monotonic()
        seconds = now - self._window_from
        self._bytes += size
        if seconds < self._pace.window:
            return
        if self._bytes < self._pace.slowest * seconds:
            raise TooSlow(
                f"It sends fewer than {self._pace.slowest:g} bytes a second, which is the limit. Ask "
                "again when it is faster."
            )
        self._window_from, self._bytes = now, 0

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _Stream(secured, self._deadline, self._pace)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
