"""Addresses: public ones, the only ones a request may go to when somebody else names the host, and those of e-mail."""

import re
from collections.abc import Collection
from email.errors import MessageError
from email.headerregistry import Address
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import AI_NUMERICHOST, gaierror, getaddrinfo
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

HostPort = tuple[str, int]
_PORTS = {"http": 80, "https": 443}

_LOCAL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
MAIL_ADDRESS = re.compile(rf"(?P<local>{_LOCAL})@(?P<domain>({_LABEL}\.)+{_LABEL})")
"""An address without quotes, comments and line breaks: nothing in it can become another header or recipient."""

# Not public though `ipaddress` takes them, or parts of them, for global: protocol assignments, the old relays of 6to4,
# multicast, and 168.63.129.16, the host of every Azure machine.
_NOT_PUBLIC_V4 = [*map(IPv4Network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4"))]
# Of IPv6 only 2000::/3 is given out to the public, less protocol assignments (Teredo), documentation and 6to4.
_PUBLIC_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
# Addresses that stand for an IPv4 address in their last 32 bits: IPv4-mapped, and the public prefix of NAT64.
_EMBEDDING_V6 = tuple(IPv6Network(network) for network in ("::ffff:0:0/96", "64:ff9b::/96"))


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet. An IPv6 zone makes it local."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        return _is_public_v6(parsed)
    return _is_public_v4(parsed)


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not any(address in network for network in _NOT_PUBLIC_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if any(address in network for network in _EMBEDDING_V6):
        return _is_public_v4(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def why_no_target(url: str, allowed: Collection[HostPort]) -> str | None:
    """Return why a URL is not an allowed target. None if it is allowed.

    This checks the URL itself. The address that a host name resolves to is checked on connecting. Hosts in `allowed`,
    in lower case with their ports, may have any address and use http.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if (host, port) in allowed:
        return None
    allowing = f"an administrator may allow it with FRESHET_WEBHOOK_HOSTS={host}:{port}."
    if parts.scheme != "https":
        return f"It is not https: give https://…, or {allowing}"
    numeric = _numeric(host)
    if numeric and not any(is_public(address) for address in numeric):
        return f"{host}:{port} has no public address, and only public ones are allowed: {allowing}"
    return None


def _numeric(host: str) -> list[str]:
    """Return the addresses that a numeric host stands for, in any spelling. Empty for a name."""
    try:
        return [str(answer[4][0]) for answer in getaddrinfo(host, None, flags=AI_NUMERICHOST)]
    except (gaierror, UnicodeError):
        return []


def mail_address(text: str) -> str:
    """Check an e-mail address; return it with its domain in lower case."""
    found = MAIL_ADDRESS.fullmatch(text)
    if found is None or len(found["local"]) > 64 or not _is_for_a_header(text):
        raise PydanticCustomError("email", "not an e-mail address: write one such as duty@rivers.example")
    return f"{found['local']}@{found['domain'].lower()}"


def mailbox(address: str) -> str:
    """Return the mailbox that an e-mail address reaches: the same for all of its spellings.

    Letter case and whatever follows a plus count nowhere in practice; dots do not in mailboxes of Google, whose domain
    has two names.
    """
    local, _, domain = address.lower().rpartition("@")
    local = local[:1] + local[1:].partition("+")[0]
    if domain in ("gmail.com", "googlemail.com"):
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


def _is_for_a_header(address: str) -> bool:
    """Return whether a header of a message can have an address: a part such as `=?utf-8?q?a?=` would be decoded."""
    try:
        return Address(addr_spec=address).addr_spec == address
    except (MessageError, ValueError, LookupError):
        return False
