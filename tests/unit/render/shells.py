"""Runs the scripts of the pods in the shells of this machine, outside a pod."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from converter.model import SourceKind, Volume
from converter.resources import manifest_template

# Every shell that an image's /bin/sh may be and that is installed here.
_CANDIDATES = (("sh",), ("dash",), ("bash", "--posix"), ("busybox", "sh"), ("mksh",), ("zsh",))
SHELLS = [
    pytest.param((found, *options), id=name)
    for name, *options in _CANDIDATES
    if (found := shutil.which(name))
]

# A command that prints its environment, whatever is in it.
PRINT_ENVIRONMENT = ("env", "-0")

# A volume of each kind, and what a command learns of its source, beside its id.
SOURCES = [
    (
        Volume("A.1_x-Y", SourceKind.REFERENCE),
        {
            "VOLUME_SOURCE": "https://archive.example.com/A.1_x-Y/manifest",
            "IIIF_MANIFEST_URL": "https://archive.example.com/A.1_x-Y/manifest",
        },
    ),
    (
        Volume("A.1_x-Y", SourceKind.MANIFEST, source="HTTP://a/m.json?x=1&y=$(id)"),
        {
            "VOLUME_SOURCE": "HTTP://a/m.json?x=1&y=$(id)",
            "IIIF_MANIFEST_URL": "HTTP://a/m.json?x=1&y=$(id)",
        },
    ),
    (
        Volume("A.1_x-Y", SourceKind.IMAGES, images=("https://a/1", "https://a/2?*")),
        {"VOLUME_SOURCE": "https://a/1 https://a/2?*", "IMAGES": "https://a/1 https://a/2?*"},
    ),
]


@dataclass(frozen=True)
class Ran:
    """How a script ended. `environment` is what PRINT_ENVIRONMENT printed."""

    code: int
    output: bytes
    errors: str

    @property
    def environment(self) -> dict[str, str]:
        entries = self.output.decode().split("\0")[:-1]
        return dict(entry.split("=", 1) for entry in entries)


def run_script(
    shell: tuple[str, ...],
    script: str,
    root: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a script of the package as a pod would, with `root` in place of the pod's ``/``."""
    text = manifest_template(f"{script}.sh")
    for path in ("/campaign/", "/data/", "/dev/termination-log"):
        text = text.replace(path, f"{root}{path}")
    done = subprocess.run(
        [*shell, "-c", text, script, *arguments],
        env={"PATH": "/usr/bin:/bin", **(environment or {})},
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())
