"""What the real node needs of Debian, unpacked into the cache.

The packages are downloaded but not installed: nothing else on the machine changes, no service is
started, and a Docker engine with a containerd of its own stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.lock import held, whole
from localcluster.paths import cache_dir
from localcluster.progress import Progress

PACKAGES = ("containerd", "runc", "containernetworking-plugins", "busybox-static")

WITHOUT_A_REAL_NODE = (
    "or choose fake nodes only, which need neither root nor Debian: "
    "`make cluster-up CLUSTER_MODE=kwok` (`--mode kwok`)"
)


@dataclass(frozen=True)
class DebianTools:
    """The unpacked packages."""

    root: Path

    @property
    def bin(self) -> Path:
        """The directory of containerd, ctr and the shims."""
        return self.root / "usr/bin"

    @property
    def runc(self) -> Path:
        """The container runtime."""
        return self.root / "usr/sbin/runc"

    @property
    def cni_plugins(self) -> Path:
        """The directory of the CNI plugins."""
        return self.root / "usr/lib/cni"

    @property
    def busybox(self) -> Path:
        """The static busybox, of which the images are made."""
        return self.root / "bin/busybox"

    @property
    def busybox_version(self) -> str:
        """The version of Debian's package, fit for an image's tag."""
        version = (self.root / "busybox-static.version").read_text().strip()
        return tag_of_version(version)


def tag_of_version(version: str) -> str:
    """A Debian version as an image's tag: no epoch, and only the characters that a tag may have."""
    upstream = version.rpartition(":")[2]
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in upstream)


def require_real_node_support() -> None:
    """Raises ClusterError, saying what is needed, where this machine cannot have a real node."""
    if os.geteuid() != 0:
        raise ClusterError(
            "a real node needs root, for containers, mounts and control groups: run this as root, "
            + WITHOUT_A_REAL_NODE
        )
    missing = [command for command in ("apt-get", "dpkg-deb") if shutil.which(command) is None]
    if missing:
        raise ClusterError(
            f"a real node is made of Debian's packages, and there is no {' and no '.join(missing)} "
            "here: use Debian or Ubuntu, " + WITHOUT_A_REAL_NODE
        )


def ensure_tools(progress: Progress) -> DebianTools:
    """Fetch and unpack the packages if the cache does not have them.

    Raises ClusterError where apt cannot, or where what was unpacked does not run.
    """
    return DebianTools(ensure_packages("debian", PACKAGES, progress, _check))


def ensure_packages(
    name: str,
    packages: Sequence[str],
    progress: Progress,
    finish: Callable[[Path, Path], None] | None = None,
) -> Path:
    """The packages, unpacked into the directory `name` of the cache if they are not there yet.

    `finish` is called with the directory that they were unpacked into, and with what it will be
    called. Raises ClusterError where apt cannot fetch them, and what `finish` raises.
    """
    target = cache_dir() / name
    if target.exists():
        return target
    with held(cache_dir() / f".{name}.lock", "a download of Debian's packages", progress):
        if target.exists():
            return target
        with (
            progress.step(f"fetching {', '.join(packages)} from Debian", slow=True),
            whole(target, name) as root,
        ):
            _unpack(root, packages)
            if finish:
                finish(root, target)
    return target


def set_library_path(
    root: Path, target: Path, files: Iterable[Path], directories: Iterable[Path] = ()
) -> None:
    """Have programs and libraries in `root` find unpacked libraries, whatever their environment.

    It will be called `target`; `directories` of it are looked in first. Needs Debian's patchelf
    among the packages.
    """
    everywhere = (*directories, *root.glob("lib/*-linux-gnu"), *root.glob("usr/lib/*-linux-gnu"))
    paths = ":".join(str(target / directory.relative_to(root)) for directory in everywhere)
    patchelf = str(root / "usr/bin/patchelf")
    run((patchelf, "--force-rpath", "--set-rpath", paths, *map(str, files)), root)


def _unpack(root: Path, names: Sequence[str]) -> None:
    packages = root / "packages"
    packages.mkdir()
    download = ("apt-get", "--quiet", "--quiet", "download", *names)
    if not run(download, packages, fatal=False):
        # Most often there are no package lists yet, or they name versions that are gone.
        run(("apt-get", "--quiet", "--quiet", "update"), packages)
        run(download, packages)
    for package in packages.glob("*.deb"):
        run(("dpkg-deb", "--extract", str(package), str(root)), packages)
        if package.name.startswith("busybox-static_"):
            field = ("dpkg-deb", "--field", str(package), "Version")
            (root / "busybox-static.version").write_text(run(field, packages))
    shutil.rmtree(packages)


def _check(root: Path, _: Path) -> None:
    tools = DebianTools(root)
    for command in (tools.bin / "containerd", tools.runc, tools.busybox):
        flag = "--help" if command == tools.busybox else "--version"
        done = subprocess.run([command, flag], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ClusterError(
                f"Debian's {command.name} does not run here: {done.stderr.strip()}. Install the "
                "library that it names (for runc: libseccomp2), " + WITHOUT_A_REAL_NODE
            )


def run(command: Sequence[str], directory: Path, *, fatal: bool = True) -> str:
    """What a command prints, or nothing where it fails and that is not `fatal`."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode and fatal:
        raise ClusterError(f"{' '.join(command)} failed: {done.stderr.strip()[-1000:]}")
    return done.stdout if done.returncode == 0 else ""
