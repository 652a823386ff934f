"""Which network addresses a request may go to when somebody else names the host: the public ones.

A host that is named by a user, a redirect or a webhook may resolve to this machine, to its private network or to the
metadata service of a cloud. What counts is the address that a connection is made to, however it was written.
"""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM, gaierror, getaddrinfo

from hydrology.errors import Problem

HostPort = tuple[str, int]

# The IANA special-purpose registries (RFC 6890 and its updates), and 168.63.129.16, the host of every Azure machine.
_NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
# Of IPv6 only 2000::/3 is given out to the public, less protocol assignments (Teredo), documentation and 6to4.
_PUBLIC_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
# Addresses that stand for an IPv4 address in their last 32 bits: IPv4-mapped, and the public prefix of NAT64.
_EMBEDDING_V6 = tuple(IPv6Network(network) for network in ("::ffff:0:0/96", "64:ff9b::/96"))


class AddressProblem(Problem):
    """A request may not go where it was sent, or cannot get there."""

    kind = "address"
    exit_code = 4


class ForbiddenAddress(AddressProblem):
    """A host has no public address, and no setting allows it."""


class UnknownHost(AddressProblem):
    """A host's name has no address at all."""


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet; an IPv6 zone makes it local."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        return _is_public_v6(parsed)
    return _is_public_v4(parsed)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if any(address in network for network in _EMBEDDING_V6):
        return _is_public_v4(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def addresses_of(host: str, port: int, allowed: Collection[HostPort] = ()) -> list[str]:
    """Resolve a host once, and return the addresses that may be connected to, in the resolver's order.

    Args:
        host: a name, or an IP address in any spelling that the system's resolver takes (decimal, octal).
        port: what is to be connected to.
        allowed: hosts with their ports that may have any address, in small letters.

    Raises:
        UnknownHost: the name cannot be resolved.
        ForbiddenAddress: none of its addresses is public. The sentence does not say what they are.
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
