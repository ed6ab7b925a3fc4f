"""What a host that cannot be reached is taken for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from converter.errors import NoCredentials
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import Host


@pytest.mark.parametrize(
    ("complaint", "is_refusal"),
    [
        ("ops@hpc: Permission denied (publickey,gssapi-with-mic).", True),
        ("Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures", True),
        ("Host key verification failed.", True),
        ("ssh: connect to host hpc port 22: Connection refused", False),
        ("ssh: connect to host hpc port 22: Permission denied", False),
        ("ssh: Could not resolve hostname hpc: Temporary failure in name resolution", False),
    ],
)
def test_a_login_that_is_refused_is_told_from_a_host_that_is_away(
    complaint: str, is_refusal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho '{complaint}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SlurmUnavailable) as caught:
        Host("hpc").run("survey.sh", "/shared", "team", seconds=10)
    assert str(caught.value) == f"the Slurm host hpc could not be reached: {complaint}"
    assert isinstance(caught.value, NoCredentials) is is_refusal
