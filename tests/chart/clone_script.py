"""The chart's script that clones, and the repositories that the tests give it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from chart.helm import CHART

SCRIPT = (CHART / "files" / "clone.sh").read_text()


def clone(
    directory: Path, url: str, revision: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the script as the pod does: its clone and its credentials are in `directory`."""
    return subprocess.run(
        ["/bin/sh", "-c", SCRIPT],
        cwd=directory,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "URL": url,
            "REVISION": revision,
            "DIRECTORY": str(directory / "clone"),
            "CREDENTIALS": str(directory / "credentials"),
            **more,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def git(directory: Path, *arguments: str) -> str:
    """git with somebody to commit as; raises where it fails."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", "-C", str(directory), *identity, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
