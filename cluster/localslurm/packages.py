"""Debian's Slurm and MUNGE, unpacked into the cache and not installed: no service is started."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from localcluster.debian import ensure_packages, run, set_library_path, tag_of_version
from localcluster.errors import ClusterError
from localcluster.progress import Progress

PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "patchelf"),
    *("libbz2-1.0", "libdbus-1-3", "libgcrypt20", "libhwloc15", "libjson-c5", "liblz4-1"),
    *("libmunge2", "libnuma1", "libpam0g", "libreadline8", "libyaml-0-2"),
)
"""The libraries too: a small Debian lacks some of them."""

DAEMONS = ("slurmctld", "slurmd", "slurmstepd")
ELF = b"\x7fELF"


@dataclass(frozen=True)
class SlurmTools:
    """The unpacked packages."""

    root: Path

    @property
    def bin(self) -> Path:
        """The directory of the commands that users run."""
        return self.root / "usr/bin"

    @property
    def munged(self) -> Path:
        """MUNGE's daemon, by which Slurm knows who asks."""
        return self.root / "usr/sbin/munged"

    @property
    def slurmctld(self) -> Path:
        """The controller."""
        return self.root / "usr/sbin/slurmctld"

    @property
    def slurmd(self) -> Path:
        """The daemon of a node."""
        return self.root / "usr/sbin/slurmd"

    @property
    def slurmstepd(self) -> Path:
        """What slurmd starts for each step of a job."""
        return self.root / "usr/sbin/slurmstepd"

    @property
    def plugins(self) -> Path:
        """Slurm's PluginDir, with the library that its programs share."""
        return next((self.root / "usr/lib").glob("*-linux-gnu/slurm-wlm"))


def ensure_slurm(progress: Progress) -> SlurmTools:
    """Fetch and unpack Slurm if the cache does not have the version that apt offers.

    Raises ClusterError where apt cannot.
    """
    name = f"slurm-{tag_of_version(_version())}"
    return SlurmTools(ensure_packages(name, PACKAGES, progress, _finish))


@cache
def _version() -> str:
    """The version that apt would install."""
    found = _candidate()
    if not found:
        # Most often there are no package lists yet.
        run(("apt-get", "--quiet", "--quiet", "update"), Path("/"))
        found = _candidate()
    if not found:
        raise ClusterError(
            "apt offers no slurmctld: use Debian 12, and see that /etc/apt names its main archive"
        )
    return found


def _candidate() -> str:
    lines = run(("apt-cache", "policy", "slurmctld"), Path("/"), fatal=False).splitlines()
    values = [line.partition(":")[2].strip() for line in lines if "Candidate:" in line]
    return next((value for value in values if value != "(none)"), "")


def _finish(root: Path, target: Path) -> None:
    """Have every program find its libraries.

    A job has the environment of whoever submits it, in which a LD_LIBRARY_PATH would be another
    than on a real cluster.
    """
    tools = SlurmTools(root)
    # Slurm tries every MPI plugin, and these complain that there is no PMIx.
    for plugin in tools.plugins.glob("mpi_pmix*"):
        plugin.unlink()
    for daemon in DAEMONS:
        # Installed, they have these names too, and by their name they know that they are daemons:
        # by another one they take no Gres from slurm.conf.
        (root / "usr/sbin" / daemon).symlink_to(f"{daemon}-wlm")
    programs = (*tools.bin.iterdir(), *tools.slurmctld.parent.iterdir())
    libraries = root.glob("usr/lib/*-linux-gnu/**/*.so*")
    files = [path for path in (*programs, *libraries) if _is_elf(path) and path.name != "patchelf"]
    set_library_path(root, target, files, [tools.plugins])


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF
