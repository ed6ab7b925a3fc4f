"""What a Slurm is made of before any of it runs: its ports, and the files that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from localcluster.errors import ClusterError
from localslurm import config, ports
from localslurm.config import Files, Options
from localslurm.packages import SlurmTools


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_two_have_no_port_in_common(tmp_path: Path) -> None:
    directories = [tmp_path / name for name in ("one", "two")]
    for directory in directories:
        directory.mkdir()
    given = [ports.reserve([f"n{n}" for n in range(600)], directory) for directory in directories]
    assert not {*given[0].values()} & {*given[1].values()}


def test_the_ports_of_one_that_is_gone_are_given_again(tmp_path: Path) -> None:
    gone, directory = tmp_path / "gone", tmp_path / "one"
    for path in (gone, directory):
        path.mkdir()
    nearly_all = [str(number) for number in range(len(ports.PORTS) - 200)]
    ports.reserve(nearly_all, gone)
    with pytest.raises(ClusterError, match="no free port is left between 30000 and 32767"):
        ports.reserve(nearly_all, directory)
    gone.rmdir()
    assert len(ports.reserve(nearly_all, directory)) == len(nearly_all)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (Options(), "MinJobAge=300"),
        (Options(min_job_age=2), "MinJobAge=2"),
        (Options(max_array_size=11), "MaxArraySize=11"),
        (Options(cpus=4, memory=1000), "DefMemPerCPU=250"),
        (Options(gpus=2), "GresTypes=gpu"),
        (Options(extra="PriorityType=priority/multifactor"), "PriorityType=priority/multifactor"),
        (
            Options(nodes=1, gpus=2, node="Feature=a100"),
            "NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=31 CPUs=1 RealMemory=1000 "
            "Gres=gpu:2 Feature=a100",
        ),
    ],
)
def test_what_an_option_is_in_slurm_conf(options: Options, line: str, tmp_path: Path) -> None:
    tools = SlurmTools(tmp_path)
    (tmp_path / "usr/lib/x86_64-linux-gnu/slurm-wlm").mkdir(parents=True)
    given = {"slurmctld": 30, **dict.fromkeys(options.names, 31)}
    text = config.slurm_conf(Files(tmp_path), tools, options, given)
    assert line in text.splitlines()


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis").touch()
    with pytest.raises(ClusterError, match="is not empty: delete it, or name another one"):
        Files(tmp_path).create()


def test_a_command_of_a_directory_with_a_space() -> None:
    text = config.wrapper(Files(Path("/a b")), Path("/c d/squeue"))
    assert text == "#!/bin/sh\nSLURM_CONF='/a b/slurm.conf' exec '/c d/squeue' \"$@\"\n"
