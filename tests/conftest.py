"""The clusters of the test run: real ones, started when the first test asks for one.

They are private to this checkout (ports, state), so that others on the machine do not matter, and
shared by the processes that run tests side by side, a file each. Those that were there before are
left running, with `--keep-cluster` all of them: the next run starts at once.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.team import Team
from hypothesis import HealthCheck, settings
from localcluster import Cluster, KwokNode, Progress, Spec
from localcluster.build import build
from localcluster.instance import load
from localcluster.tenant import Tenant

# How long an example takes says more about the machine than about the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

INSTANCE = os.environ.get("CAMPAIGNS_TEST_INSTANCE", "test")
# For tests that stop a part of their cluster, which would fail all others meanwhile.
FRAIL_INSTANCE = f"{INSTANCE}-frail"
# A directory with a file for each instance that this run started; the processes that run tests side
# by side inherit it.
STARTED = "CAMPAIGNS_TEST_STARTED"
SLOWEST = (
    "test_frail.py",
    "test_pause.py",
    "test_cycles.py",
    "test_faults.py",
    "test_upgrades.py",
    "test_records.py",
    "test_kills.py",
    "test_diff.py",
    "test_queue_chain.py",
)
SPEC = Spec(kwok_nodes=(KwokNode("kwok-gpu", labels={"gpu": "a100"}, gpus=8),))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--keep-cluster", action="store_true", help="leave the cluster running for the next run"
    )
    parser.addoption(
        "--exhaustive", action="store_true", help="every fault at every request, not some of them"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The files that take longest first, so that none of them is what the others wait for.

    An exhaustive test takes as long as it takes.
    """
    place = {name: number for number, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(SLOWEST)))
    if config.getoption("--exhaustive"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


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


def pytest_sessionstart(session: pytest.Session) -> None:
    """A cluster that this run did not start is somebody's, and left as it is."""
    if not hasattr(session.config, "workerinput"):
        os.environ[STARTED] = tempfile.mkdtemp(prefix="campaigns-test-")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the clusters when the last test has run, in the process that started the others."""
    if hasattr(session.config, "workerinput"):
        return
    started = Path(os.environ.pop(STARTED))
    if not session.config.getoption("--keep-cluster"):
        for instance in started.iterdir():
            Cluster(instance.name, Progress()).down()
    shutil.rmtree(started)


def start(instance: str) -> RunningCluster:
    """The cluster of an instance; of several processes the first one starts it."""
    progress = Progress()
    local = Cluster(instance, progress)
    if load(instance) is None:
        (Path(os.environ[STARTED]) / instance).touch()
    local.up(SPEC)
    return RunningCluster(local, build(progress, "helm")["helm"].binary("helm"))


@pytest.fixture(scope="session")
def cluster() -> RunningCluster:
    """The cluster, with a real node and a fake one with GPUs. No test may break it."""
    return start(INSTANCE)


@pytest.fixture(scope="session")
def frail_cluster() -> RunningCluster:
    """A cluster of its own for tests that stop parts of it.

    One that an earlier run left may lack the part that was away when that run was killed.
    """
    if not (Path(os.environ[STARTED]) / FRAIL_INSTANCE).exists():
        Cluster(FRAIL_INSTANCE, Progress()).down()
    return start(FRAIL_INSTANCE)


_numbers = itertools.count(1)


@dataclass(frozen=True)
class TeamFactory:
    """Makes teams on one cluster: a namespace with the chart's release, and a repository."""

    cluster: RunningCluster
    directory: Path
    made: list[Team]

    def __call__(self, values: dict[str, object] | None = None) -> Team:
        """A team of its own; `values` are the chart's."""
        name = f"t{os.getpid()}-{next(_numbers)}"
        tenant = self.cluster.tenant(name)
        tenant.install(values or {})
        home = self.directory / name
        home.mkdir()
        kubeconfig = home / "kubeconfig"
        tenant.write_kubeconfig(kubeconfig)
        team = Team(self.cluster.local, tenant, home / "repo", kubeconfig)
        self.made.append(team)
        team.write_settings()
        return team

    def remove(self) -> None:
        """Take away what was made."""
        for team in self.made:
            team.tenant.remove()


@pytest.fixture
def new_team(cluster: RunningCluster, tmp_path: Path) -> Iterator[TeamFactory]:
    factory = TeamFactory(cluster, tmp_path, [])
    yield factory
    factory.remove()


@pytest.fixture
def frail_team(frail_cluster: RunningCluster, tmp_path: Path) -> Iterator[Team]:
    """A team on the cluster that may be broken. The tests that do so are in one file."""
    factory = TeamFactory(frail_cluster, tmp_path, [])
    yield factory()
    factory.remove()


@pytest.fixture
def team(new_team: TeamFactory) -> Team:
    """A team with the default quota: 4 cpu, 8Gi of memory, 1 GPU."""
    return new_team()
