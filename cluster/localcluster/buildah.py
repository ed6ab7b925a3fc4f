"""Debian's buildah in the cache, and a base image made of Debian's packages.

Neither is installed, no service runs, and no registry is asked.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localcluster.debian import ensure_packages, run, set_library_path
from localcluster.errors import ClusterError
from localcluster.progress import Progress

PACKAGES = (
    *("buildah", "mmdebstrap", "patchelf"),
    *("libassuan0", "libdevmapper1.02.1", "libgpg-error0", "libgpgme11", "libseccomp2"),
)
"""The libraries too: a machine without Docker or podman lacks some of them."""

BASE = "localhost/base"
"""The image that stands for the Containerfile's public base."""

KEYRINGS = "/usr/share/keyrings"

FILES = {
    "policy.json": '{"default": [{"type": "insecureAcceptAnything"}]}\n',
    # What the machine's own engine is set to is not for this one.
    "containers.conf": "",
    "storage.conf": '[storage]\ndriver = "overlay"\n',
    "base/Containerfile": 'FROM scratch\nADD base.tar /\nCMD ["/bin/sh"]\n',
}


@dataclass(frozen=True)
class Buildah:
    """Debian's buildah, unpacked in `root`; its images are in `store`."""

    root: Path
    store: Path

    def build(self, context: Path, *arguments: str) -> None:
        """Build the Containerfile of a directory, with one layer a step, as most builders do."""
        self._run(
            "build",
            f"--signature-policy={self.root / 'policy.json'}",
            "--isolation=chroot",
            "--network=host",
            "--layers",
            "--pull-never",
            # The same files make the same image, whenever it is built.
            "--timestamp=0",
            f"--file={context / 'Containerfile'}",
            *arguments,
            str(context),
        )

    def export(self, image: str, layout: Path) -> None:
        """Write an image as an OCI image layout, which keeps the layers of one written before."""
        (layout / "index.json").unlink(missing_ok=True)
        policy = f"--signature-policy={self.root / 'policy.json'}"
        # Half the time of gzip.
        quick = ("--compression-format=zstd", "--compression-level=1")
        self._run("push", policy, *quick, image, f"oci:{layout}")

    def has(self, image: str) -> bool:
        """Whether the store has an image of this name."""
        return bool(self._run("images", "--quiet", f"--filter=reference={image}"))

    def prune(self) -> None:
        """Delete the layers that are of no named image any more, and what failed builds left."""
        self._run("rm", "--all")
        self._run("rmi", "--prune")

    def ensure_base(self, progress: Progress) -> None:
        """Make the base image if the store does not have it."""
        if self.has(BASE):
            return
        codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
        base = self.root / "base"
        with progress.step(f"a base image of {codename}", slow=True):
            run(
                (
                    *("perl", str(self.root / "usr/bin/mmdebstrap"), "--quiet", "--mode=root"),
                    *("--variant=minbase", f"--keyring={KEYRINGS}"),
                    *(codename, str(base / "base.tar"), *_sources(codename)),
                ),
                base,
            )
            self.build(base, f"--tag={BASE}")
            (base / "base.tar").unlink()

    def _run(self, *arguments: str) -> str:
        self.store.mkdir(parents=True, exist_ok=True)
        settings = {
            "CONTAINERS_CONF": str(self.root / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.root / "storage.conf"),
        }
        command = (
            str(self.root / "usr/bin/buildah"),
            f"--root={self.store / 'root'}",
            f"--runroot={self.store / 'run'}",
            f"--storage-driver={_driver(self.store)}",
            *arguments,
        )
        done = subprocess.run(
            command,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise ClusterError(f"buildah {arguments[0]} failed; it ends with:\n{said}")
        return done.stdout


def ensure_buildah(store: Path, progress: Progress) -> Buildah:
    """Fetch and unpack it if the cache does not have it; raises ClusterError where apt cannot."""
    return Buildah(ensure_packages("buildah", PACKAGES, progress, _finish), store)


def suite_sources(targets: Iterable[str], codename: str) -> tuple[str, ...]:
    """The lines of a sources.list for one release of the distribution, with its updates.

    `targets` are lines `address|release|component|origin` of `apt-get indextargets`: those of other
    repositories are no part of a base image.
    """
    releases = (codename, f"{codename}-updates", f"{codename}-security")
    lines = []
    for target in targets:
        address, release, component, origin = target.split("|")
        if origin in ("Debian", "Ubuntu") and release in releases:
            lines.append(f"deb {address} {release} {component}")
    return tuple(dict.fromkeys(lines))


def _sources(codename: str) -> tuple[str, ...]:
    form = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)"
    command = ("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    found = suite_sources(run(command, Path("/")).splitlines(), codename)
    if not found:
        raise ClusterError(
            f"apt has no sources for {codename or 'this system'}, of which a base image could be "
            "made: run `apt-get update`, and see what /etc/apt names"
        )
    return found


def _driver(store: Path) -> str:
    """overlay shares what layers have in common, but not above another overlay."""
    kind = run(("stat", "--file-system", "--format=%T", str(store)), store).strip()
    return "vfs" if kind == "overlayfs" else "overlay"


def _finish(root: Path, target: Path) -> None:
    """Have buildah find its libraries, also where it starts itself anew without an environment."""
    set_library_path(root, target, [root / "usr/bin/buildah"])
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
