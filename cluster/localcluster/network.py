"""Ports and addresses that nobody else on the machine has."""

from __future__ import annotations

import errno
import hashlib
import ipaddress
import socket
from collections.abc import Callable, Collection, Iterable

from localcluster.errors import ClusterError

PORTS = range(20000, 30000)
"""Below the ports that Linux gives to outgoing connections (32768 and up), so that none of those
takes a component's port while it is down."""

SUBNETS = range(256)
"""The third byte of 198.18.N.0/24. RFC 2544 reserves 198.18.0.0/15 for tests inside one network, so
that no real network is hidden by it."""


def choose_ports(
    names: Iterable[str],
    instance_id: str,
    taken: Collection[int],
    is_free: Callable[[int], bool],
    ports: range = PORTS,
) -> dict[str, int]:
    """A free port for each name; the same instance gets the same ones where it can.

    Raises ClusterError where there are not enough.
    """
    candidates = _from(ports, instance_id)
    chosen: dict[str, int] = {}
    for name in names:
        port = next((p for p in candidates if p not in taken and is_free(p)), None)
        if port is None:
            raise ClusterError(f"no free port is left between {ports[0]} and {ports[-1]}")
        chosen[name] = port
    return chosen


def choose_subnet(instance_id: str, taken: Collection[int], is_free: Callable[[int], bool]) -> int:
    """The third byte of a subnet that no other instance uses.

    Raises ClusterError where all 256 are in use.
    """
    for subnet in _from(SUBNETS, instance_id):
        if subnet not in taken and is_free(subnet):
            return subnet
    raise ClusterError("every subnet of 198.18.0.0/16 is in use by another instance: end some")


def pod_subnet(subnet: int) -> str:
    """The addresses of the pods of the real node."""
    return f"198.18.{subnet}.0/25"


def node_address(subnet: int) -> str:
    """The address of the real node; outside `pod_subnet`, so that no pod can be given it."""
    return f"198.18.{subnet}.254"


def service_range(subnet: int) -> str:
    """The addresses of Services, beside those of the pods and of the node."""
    return f"198.18.{subnet}.128/26"


def first_address(addresses: str) -> str:
    """The first address of a range, which the API server gives to the Service `kubernetes`."""
    return str(next(ipaddress.ip_network(addresses).hosts()))


def port_is_free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def answers(address: str, port: int) -> bool:
    """Whether something takes connections at this address and port."""
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True


def has_address(address: str) -> bool:
    """Whether an interface of this machine has this address."""
    with socket.socket() as candidate:
        try:
            candidate.bind((address, 0))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return False
            raise
    return True


def _from(values: range, seed: str) -> Iterable[int]:
    """All the values once, beginning at one that depends on the seed."""
    start = int(hashlib.sha256(seed.encode()).hexdigest(), 16) % len(values)
    return iter([*values[start:], *values[:start]])
