"""helm and kubectl, from the environment or from where the local cluster keeps them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from chart.helm import Helm
from chart.release import Cluster, Released, install, remove
from localcluster.build import build
from localcluster.progress import Progress


def _command(name: str, product: str) -> Path:
    """The command that the environment variable NAME gives, else the installed or the built one."""
    if given := os.environ.get(name.upper()) or shutil.which(name):
        return Path(given)
    return build(Progress(), product)[product].binary(name)


@pytest.fixture(scope="session")
def helm_command() -> Path:
    return _command("helm", "helm")


@pytest.fixture(scope="session")
def kubectl_command() -> Path:
    return _command("kubectl", "kubernetes")


@pytest.fixture
def helm(helm_command: Path, tmp_path: Path) -> Helm:
    home = tmp_path / "home"
    home.mkdir()
    return Helm(helm_command, home)


@pytest.fixture(scope="session")
def released(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Released]:
    """The release whose identities are looked at, one for each process that runs such tests."""
    try:
        yield install(cluster, tmp_path_factory.mktemp("release"))
    finally:
        remove(cluster)
