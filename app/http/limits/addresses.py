"""The client's address of a request, as used by limits, logs and the audit trail."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

# The holder of an IPv6 address usually has all of its /64.
_PREFIX = 64


def address_of(scope: Scope) -> str:
    """Return the address of the client of a request; empty where it is not known (a Unix socket)."""
    client = scope.get("client")
    return "" if client is None else str(client[0])


def counted_as(address: str) -> str:
    """Return the key that an address is counted by: itself, or its IPv6 /64."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _PREFIX), strict=False))
