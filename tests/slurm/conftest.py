"""A real Slurm for each process that runs such tests, started as the first of them asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from localcluster.progress import Progress
from localslurm import Options, Slurm, SshHost, temporary
from slurm.lab import Lab, lab_on
from slurm.slurm_team import SlurmTeam


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """Four nodes with 2 CPUs and 2 GPUs each. No test may leave it otherwise than it was."""
    with temporary(Options(cpus=2, gpus=2), Progress()) as running:
        yield running


@pytest.fixture(scope="session")
def slurm_host(slurm: Slurm) -> SshHost:
    """The host `slurm-host`, where a login by ssh finds the commands of that Slurm."""
    host = SshHost(slurm)
    host.start(Progress())
    return host


@pytest.fixture
def new_slurm() -> Iterator[Callable[[Options], Slurm]]:
    """Starts a Slurm for one test, which may do with it what it likes."""
    with ExitStack() as stack:
        yield lambda options: stack.enter_context(temporary(options))


@pytest.fixture
def lab(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """The Slurm of this process with its commands on PATH, left as it was."""
    made = lab_on(slurm, tmp_path, monkeypatch)
    yield made
    made.end()


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    """A team with a pipeline that ends at once, `work`, and one that does not, `slow`."""
    made = SlurmTeam(lab, tmp_path)
    made.write_settings()
    made.write_pipeline(f"touch {made.at_work}; sleep 300", "slow")
    made.write_pipeline()
    return made
