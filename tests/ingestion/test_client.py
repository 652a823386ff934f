"""Attacks by address: names, spellings, redirections and answers of the name service that lead where nobody may go."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trustme

from hydrology.base.errors import InvalidInput
from ingestion import client as http_client
from ingestion.client import (
    BadRedirect,
    Deadline,
    ForbiddenAddress,
    UnknownHost,
    addresses_of,
    get,
    http_address,
    public_client,
    redirected,
)
from jobspec import addresses as public_addresses
from jobspec.addresses import HostPort, is_public
from tests.ingestion.servers import Server, serving, status, whole

SECRET = b"root:x:0:0"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        state.answers = [whole(SECRET)]
        yield state


def content(url: str, *allowed: HostPort) -> bytes:
    """Return what the guarded client gets from an address."""
    with public_client(Deadline(30), allowed) as opened, get(opened, http_address(url), {}) as response:
        return response.read()


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
        *("192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.1.2.3", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1"),
        *("::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "fc00::1"),
        *("fd00:ec2::254", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1"),
        "2606:4700::1111%1",
    ],
)
def test_an_address_that_is_not_of_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "172.15.0.1", "172.32.0.1", "223.255.255.255", "2606:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"],
)
def test_an_address_of_the_public_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "LOCALHOST", "127.1", "2130706433", "0x7f000001", "0"),
        *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1]"),
    ],
)
def test_no_spelling_of_this_machine_is_connected_to(server: Server, host: str) -> None:
    with pytest.raises(ForbiddenAddress, match="FRESHET_INGEST_HOSTS"):
        content(server.url(host=host))
    assert server.requests == []


@pytest.mark.parametrize("host", ["0177.0.0.1", "017700000001", "0x7f.1", "::1", "::ffff:127.0.0.1"])
def test_addresses_are_checked_as_the_resolver_reads_them(host: str) -> None:
    with pytest.raises(ForbiddenAddress):
        addresses_of(host, 80)


def test_an_allowed_host_may_have_any_address_on_its_port_alone(server: Server) -> None:
    assert content(server.url(host="LocalHost"), ("localhost", server.port)) == SECRET
    with pytest.raises(ForbiddenAddress):
        content(server.url(host="localhost"), ("localhost", server.port + 1), ("127.0.0.1", server.port))
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirection_to_this_machine_is_not_followed(server: Server, code: int) -> None:
    with serving() as front:
        front.answers = [status(code, Location=server.url())]
        with pytest.raises(ForbiddenAddress):
            content(front.url(), front.host)
    assert server.requests == []


@pytest.mark.parametrize(
    ("location", "cause"),
    [
        ("ftp://files.example/a.zip", "neither http nor https"),
        ("file:///etc/passwd", "neither http nor https"),
        ("http://me:secret@files.example/", "holds a password"),
        ("/again", "more than 5 times"),
    ],
)
def test_a_redirection_to_no_plain_address_is_not_followed(server: Server, location: str, cause: str) -> None:
    server.answers = [status(302, Location=location)]
    with pytest.raises(BadRedirect, match=cause) as caught:
        content(server.url(), server.host)
    assert "secret" not in str(caught.value)


def test_the_body_of_a_redirection_is_not_read(server: Server) -> None:
    def endless(request: Any) -> None:
        request.send_response(302)
        request.send_header("Location", "/second")
        request.end_headers()
        while True:
            request.wfile.write(SECRET)

    server.answers = [endless, whole(b"short")]
    assert content(server.url(), server.host) == b"short"


def test_an_unknown_host_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(http_client, "getaddrinfo", refuse)
    with pytest.raises(UnknownHost, match=r"files\.example"):
        addresses_of("files.example", 80)


Resolver = Callable[..., list[tuple[Any, ...]]]


def resolver(*answers: list[str]) -> Resolver:
    """Return a name service whose answers change from one question to the next, as an attacker's may."""
    left = list(answers)

    def resolve(_host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    return resolve


@pytest.fixture
def public_and_private(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Server]]:
    """Two servers on one port; in these tests 127.0.0.2 counts as public, as nothing public is to be asked."""
    monkeypatch.setattr(public_addresses, "_is_public_v4", lambda address: str(address) == "127.0.0.2")
    with ExitStack() as stack:
        public = stack.enter_context(serving("127.0.0.2"))
        inner = stack.enter_context(serving("127.0.0.1", public.port))
        public.answers, inner.answers = [whole(b"public")], [whole(SECRET)]
        yield public, inner


def test_a_name_that_changes_its_address_leads_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, public_and_private: tuple[Server, Server]
) -> None:
    public, private = public_and_private
    monkeypatch.setattr(http_client, "getaddrinfo", resolver(["127.0.0.2"], ["127.0.0.1"]))
    assert content(public.url(host="files.example")) == b"public"
    with pytest.raises(ForbiddenAddress):
        content(public.url(host="files.example"))
    monkeypatch.setattr(http_client, "getaddrinfo", resolver(["127.0.0.2"], ["127.0.0.1"]))
    public.answers = [status(302, Location="/second")]
    with pytest.raises(ForbiddenAddress):
        content(public.url(host="files.example"))
    assert public.requests[0]["Host"] == f"files.example:{public.port}"
    assert private.requests == []


def test_public_addresses_of_a_name_are_tried_in_turn(
    monkeypatch: pytest.MonkeyPatch, public_and_private: tuple[Server, Server]
) -> None:
    public, private = public_and_private
    nobody_listens = "127.0.0.4"
    answer = ["127.0.0.1", nobody_listens, "127.0.0.2"]
    monkeypatch.setattr(http_client, "getaddrinfo", resolver(answer))
    assert content(public.url(host="files.example")) == b"public"
    assert private.requests == []


def test_a_proxy_of_the_environment_is_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, server.url(""))
    with serving() as other:
        other.answers = [whole(b"other")]
        assert content(other.url(), other.host) == b"other"
    assert server.requests == []


@pytest.fixture
def secured(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    public_and_private: tuple[Server, Server],  # noqa: ARG001 - it makes 127.0.0.2 public
) -> Iterator[Server]:
    """A server with TLS and a certificate of files.example alone."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setattr(http_client, "_ssl_context", httpx2.create_ssl_context)
    monkeypatch.setattr(http_client, "getaddrinfo", resolver(["127.0.0.2"]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("files.example").configure_cert(context)
    with serving("127.0.0.2", secured=context) as server:
        yield server


def test_tls_is_held_to_the_name_although_the_connection_goes_to_an_address(secured: Server) -> None:
    secured.answers = [whole(SECRET)]
    assert content(secured.url(host="files.example", scheme="https")) == SECRET
    assert secured.requests[0]["Host"] == f"files.example:{secured.port}"
    with pytest.raises(httpx2.ConnectError, match="certificate"):
        content(secured.url(host="other.example", scheme="https"))


def test_https_is_not_left_for_http(secured: Server, public_and_private: tuple[Server, Server]) -> None:
    public, _ = public_and_private
    secured.answers = [status(302, Location=public.url(host="files.example"))]
    with pytest.raises(BadRedirect, match="from https to http"):
        content(secured.url(host="files.example", scheme="https"))
    assert public.requests == []


@pytest.mark.parametrize("host", ["xn--a.-b", "xn--a.b{"])
def test_an_invalid_international_name_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match="is not a URL"):
        http_address(f"http://{host}/")
    with pytest.raises(BadRedirect):
        redirected(http_address("http://rivers.example/"), f"http://{host}/")
