"""The cluster of the test run: one real instance, started when the first test asks for it.

It is private to this checkout (ports, state), so that others on the machine do not matter. With
`--keep-cluster` it is left running, and the next run starts at once.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.team import Team
from localcluster import Cluster, KwokNode, Progress, Spec
from localcluster.build import build
from localcluster.tenant import Tenant

INSTANCE = os.environ.get("CAMPAIGNS_TEST_INSTANCE", "test")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--keep-cluster", action="store_true", help="leave the cluster running for the next run"
    )


@dataclass(frozen=True)
class RunningCluster:
    """The cluster as its administrator. `kubectl` and `helm` raise where they fail."""

    local: Cluster
    helm_command: Path

    @property
    def kubeconfig(self) -> Path:
        return self.local.kubeconfig

    def kubectl(self, *arguments: str) -> str:
        return self.local.kubectl.run(*arguments)

    def helm(self, *arguments: str) -> str:
        return self.tenant("default").run_helm(*arguments)

    def tenant(self, name: str) -> Tenant:
        """A namespace and queue of this name."""
        return Tenant(self.local.kubectl, self.helm_command, name, name)


@pytest.fixture(scope="session")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningCluster]:
    """The cluster, with a real node and a fake one with GPUs."""
    del tmp_path_factory
    progress = Progress()
    local = Cluster(INSTANCE, progress)
    local.up(Spec(kwok_nodes=(KwokNode("kwok-gpu", labels={"gpu": "a100"}, gpus=8),)))
    try:
        yield RunningCluster(local, build(progress, only="helm")["helm"].binary("helm"))
    finally:
        if not request.config.getoption("--keep-cluster"):
            local.down()


_numbers = itertools.count(1)


@pytest.fixture
def new_team(cluster: RunningCluster, tmp_path: Path) -> Iterator[Callable[..., Team]]:
    """Makes a namespace with the chart's release, its apply identity, and an empty repository."""
    teams: list[Team] = []

    def make(values: dict[str, object] | None = None) -> Team:
        name = f"t{os.getpid()}-{next(_numbers)}"
        tenant = cluster.tenant(name)
        tenant.install(values or {})
        directory = tmp_path / name
        directory.mkdir()
        kubeconfig = directory / "kubeconfig"
        tenant.write_kubeconfig(kubeconfig)
        team = Team(cluster.local, tenant, directory / "repo", kubeconfig)
        teams.append(team)
        team.write_settings()
        return team

    yield make
    for team in teams:
        team.tenant.remove()


@pytest.fixture
def team(new_team: Callable[..., Team]) -> Team:
    """A team with the default quota: 4 cpu, 8Gi of memory, 1 GPU."""
    return new_team()
