"""What git says about a repository's directory. Everything here is empty outside git."""

import re
import subprocess
from pathlib import Path

TIMEOUT_SECONDS = 20
# scp-like (git@host:path) and URL forms, without user, port and the .git ending.
REMOTE = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/]*@)?(?P<host>[^:/]+)(?::\d+/|[:/]+)(?P<path>.+?)(?:\.git)?/*\Z"
)


def head_commit(directory: Path) -> str:
    """The full id of the commit that is checked out."""
    return _git(directory, "rev-parse", "--verify", "HEAD")


def repository_name(directory: Path) -> str:
    """A name that is the same in every clone, for example ``github.com/org/repo//batch``.

    It is the ``origin`` remote without scheme, user and ``.git``, and the directory's place in it
    where that is not the top. Without a remote it is the directory's own name.
    """
    place = _git(directory, "rev-parse", "--show-prefix").rstrip("/")
    remote = REMOTE.match(_git(directory, "config", "--get", "remote.origin.url"))
    if remote is None:
        return directory.resolve().name
    top = f"{remote['host'].lower()}/{remote['path'].strip('/')}"
    return f"{top}//{place}" if place else top


def _git(directory: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, no shell, arguments are ours
            ["git", "-C", str(directory), *arguments],  # noqa: S607 - git is found on PATH
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
