"""Logins by ssh to the machine of a Slurm: a host of its own, whose sessions find its commands."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from localcluster import sshd
from localcluster.errors import ClusterError
from localcluster.progress import Progress

from localslurm.slurm import Slurm

HOST = "slurm-host"
USER = "root"
PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class SshHost:
    """An sshd beside a Slurm, and what a client of it needs. It ends with the Slurm."""

    slurm: Slurm

    @property
    def config(self) -> Path:
        """For `ssh -F`, with `Host slurm-host`."""
        return self.slurm.files.ssh / "config"

    @property
    def bin(self) -> Path:
        """A directory for PATH whose `ssh` knows the host: ssh reads no other user's settings."""
        return self.slurm.files.ssh / "bin"

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command there, word by word as given, as root in a home of its own."""
        argv = ("ssh", "-F", str(self.config), HOST, shlex.join(command))
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    def start(self, progress: Progress | None = None) -> None:
        """Start sshd if it does not run, and wait until it takes connections."""
        component = self._server().component(progress or Progress(quiet=True))
        if not self.slurm.supervisor.running(sshd.NAME):
            self.slurm.supervisor.start(component)
        self.slurm.supervisor.wait(component)

    def stop(self) -> None:
        """Have the host refuse connections."""
        self.slurm.supervisor.stop(sshd.NAME)

    def _server(self) -> sshd.Sshd:
        directory = self.slurm.files.ssh
        port = self.slurm.ports[sshd.NAME]
        if directory.exists():
            return sshd.Sshd(directory, "127.0.0.1", port, USER)
        environment = {"PATH": f"{self.slurm.bin}:{PATH}"}
        home = self.slurm.files.home
        server = sshd.create(directory, "127.0.0.1", port, USER, home=home, environment=environment)
        (directory / "known_hosts").write_text(server.known_hosts)
        self._write_client(server)
        return server

    def _write_client(self, server: sshd.Sshd) -> None:
        settings = {
            "HostName": server.address,
            "Port": server.port,
            "User": USER,
            "IdentityFile": server.private_key,
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": server.directory / "known_hosts",
            "GlobalKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
        }
        lines = (f"    {key} {value}\n" for key, value in settings.items())
        self.config.write_text(f"Host {HOST}\n{''.join(lines)}")
        ssh = shutil.which("ssh")
        if ssh is None:
            raise ClusterError("there is no ssh here: install openssh-client")
        self.bin.mkdir()
        command = self.bin / "ssh"
        config = shlex.quote(str(self.config))
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(ssh)} -F {config} "$@"\n')
        command.chmod(0o755)
