"""Debian's Chromium, driven by playwright.

Where there is none it is installed, as root on Debian or Ubuntu, from packages that are kept in the
cache. No browser of playwright's own is downloaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcluster.lock import held
from localcluster.paths import cache_dir
from localcluster.progress import Progress
from playwright.sync_api import Browser, sync_playwright

APT = ("apt-get", "--quiet", "--quiet")
NEEDED = "the tests of the report need Chromium: install it (on Debian: apt-get install chromium)"


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    command = ensure_chromium()
    # Its own sandbox needs another user than root, and /dev/shm is small in a container.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=command, args=arguments)
        yield running
        running.close()


def ensure_chromium() -> str:
    """The command; of several processes the first one installs it."""
    if found := _found():
        return found
    assert os.geteuid() == 0, NEEDED
    assert shutil.which("apt-get"), NEEDED
    with held(cache_dir() / ".chromium.lock", "an installation of Chromium", Progress()):
        if not _found():
            _install(cache_dir() / "chromium-packages")
    found = _found()
    assert found, NEEDED
    return found


def _found() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _install(kept: Path) -> None:
    (kept / "partial").mkdir(parents=True, exist_ok=True)
    keep = (f"-oDir::Cache::Archives={kept}", "-oAPT::Keep-Downloaded-Packages=true")
    install = (*APT, *keep, "install", "--yes", "--no-install-recommends", "chromium")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Most often there are no package lists yet, or they name versions that are gone.
    if subprocess.run(install, env=environment, capture_output=True, check=False).returncode:
        subprocess.run((*APT, "update"), env=environment, check=True)
        subprocess.run(install, env=environment, stdout=subprocess.DEVNULL, check=True)
