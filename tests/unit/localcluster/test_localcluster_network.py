"""Ports and subnets that instances do not share."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from localcluster import network
from localcluster.errors import ClusterError
from localcluster.instance import PORT_NAMES


def every(_: int) -> bool:
    return True


def test_the_same_instance_gets_the_same_ports() -> None:
    first = network.choose_ports(PORT_NAMES, "dev-1", (), every)
    assert network.choose_ports(PORT_NAMES, "dev-1", (), every) == first
    assert len(set(first.values())) == len(PORT_NAMES)
    assert set(first.values()) <= set(network.PORTS)


def test_ports_of_others_and_ports_in_use_are_passed_over() -> None:
    first = network.choose_ports(["a", "b", "c"], "dev-1", (), every)
    second = network.choose_ports(["a"], "dev-1", {first["a"]}, lambda p: p != first["b"])
    assert second == {"a": first["c"]}


def test_the_search_goes_round() -> None:
    only = network.PORTS[7]
    assert network.choose_ports(["a"], "dev-1", (), lambda port: port == only) == {"a": only}


def test_no_port_is_left() -> None:
    with pytest.raises(ClusterError, match="no free port is left between 20000 and 29999"):
        network.choose_ports(["a"], "dev-1", network.PORTS, every)


def test_no_subnet_is_left() -> None:
    with pytest.raises(ClusterError, match="every subnet"):
        network.choose_subnet("dev-1", network.SUBNETS, every)


def test_a_subnet_of_another_instance_is_passed_over() -> None:
    first = network.choose_subnet("dev-1", (), every)
    assert network.choose_subnet("dev-1", {first}, every) == (first + 1) % 256


def test_the_node_is_outside_the_addresses_of_its_pods() -> None:
    assert network.pod_subnet(7) == "198.18.7.0/25"
    assert network.node_address(7) == "198.18.7.254"


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not network.port_is_free(port)
    assert network.port_is_free(port)


def test_addresses_of_this_machine() -> None:
    assert network.has_address("127.0.0.1")
    # Reserved for future use (RFC 1112): no machine has it.
    assert not network.has_address("240.0.0.1")


def test_pods_services_and_the_node_share_no_address() -> None:
    pods, services = (
        ipaddress.ip_network(found) for found in (network.pod_subnet(7), network.service_range(7))
    )
    assert not pods.overlaps(services)
    node = ipaddress.ip_address(network.node_address(7))
    assert node not in pods
    assert node not in services
