"""Resolves a host that somebody else named to the public addresses that a request may use.

A host that is named by a user, a redirect or a webhook may resolve to this machine, to its private network or to the
metadata service of a cloud. Only the address of the connection counts, however the host was written.
"""

from collections.abc import Collection
from socket import SOCK_STREAM, gaierror, getaddrinfo

from hydrology.base.errors import Problem
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
