"""Debian's sshd, unpacked and not installed, for one client that knows its key. Needs root.

It takes a user for granted, and an empty directory: it has both in a mount namespace of its own,
with nobody in /etc/passwd but the user that its client logs in as, who is root by another name.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from localcluster.debian import ensure_packages
from localcluster.network import answers
from localcluster.progress import Progress
from localcluster.supervisor import Component

PACKAGES = ("openssh-server", "libwrap0")
NAME = "sshd"

ENTER = """
set -e
mount -o bind "$1/passwd" /etc/passwd
mount -o bind "$1/run" /run
exec "$2" -D -e -f "$1/sshd_config"
"""
"""Run in a new mount namespace."""


@dataclass(frozen=True)
class Sshd:
    """A server at an address and a port; its keys and settings are in a directory of its own."""

    directory: Path
    address: str
    port: int
    user: str

    @property
    def private_key(self) -> Path:
        """That of the one client it knows."""
        return self.directory / "client"

    @property
    def known_hosts(self) -> str:
        """The line that a client pins it with."""
        kind, key, _ = (self.directory / "host.pub").read_text().split()
        return f"[{self.address}]:{self.port} {kind} {key}\n"

    def component(self, progress: Progress) -> Component:
        """Its process; sshd is fetched from Debian if the cache does not have it."""
        root = ensure_packages("openssh-server", PACKAGES, progress)
        libraries = next((root / "usr/lib").glob("*-linux-gnu"))
        return Component(
            NAME,
            (
                *("unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", ENTER, "sh"),
                *(str(self.directory), str(root / "usr/sbin/sshd")),
            ),
            lambda _: answers(self.address, self.port),
            self.directory,
            environment={"LD_LIBRARY_PATH": str(libraries)},
        )


def create(
    directory: Path,
    address: str,
    port: int,
    user: str,
    *,
    home: Path = Path("/"),
    options: str = "",
    environment: Mapping[str, str] | None = None,
) -> Sshd:
    """Write the keys and settings of a server into a new directory.

    `options` are those of the client's line in authorized_keys, see sshd(8); `environment` is what
    its sessions have beside what sshd gives them.
    """
    (directory / "run" / "sshd").mkdir(parents=True, mode=0o755)
    for name in ("host", "client"):
        kind = ("-q", "-t", "ed25519", "-N", "", "-C", name)
        subprocess.run(("ssh-keygen", *kind, "-f", str(directory / name)), check=True)
    client = (directory / "client.pub").read_text()
    (directory / "authorized_keys").write_text(f"{options} {client}".lstrip())
    users = [("root", "/")] if user != "root" else []
    lines = (f"{name}:*:0:0::{at}:/bin/sh\n" for name, at in (*users, (user, home)))
    nobody = "sshd:*:100:65534::/run/sshd:/bin/false\n"
    (directory / "passwd").write_text("".join((*lines, nobody)))
    settings = {
        "Port": port,
        "ListenAddress": address,
        "HostKey": directory / "host",
        "AuthorizedKeysFile": directory / "authorized_keys",
        "AuthenticationMethods": "publickey",
        "PermitRootLogin": "yes",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
    }
    if environment:
        settings["SetEnv"] = " ".join(f'"{key}={value}"' for key, value in environment.items())
    text = "".join(f"{key} {value}\n" for key, value in settings.items())
    (directory / "sshd_config").write_text(text)
    return Sshd(directory, address, port, user)
