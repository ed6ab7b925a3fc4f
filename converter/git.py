"""What git says about a repository's directory.

What is not there (no repository, no commit, no remote) is empty. That git could not be asked is
another matter: it must not be taken for that.
"""

import os
import re
import subprocess
from enum import StrEnum
from pathlib import Path

from converter.errors import CampaignsError
from converter.remote import remote_name

TIMEOUT_SECONDS = 20
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
# With more than that, for example the place of a worktree's missing repository, git is broken.
NO_REPOSITORY = "fatal: not a git repository (or any "


def head_commit(directory: Path) -> str:
    """The full id of the commit that is checked out; empty also where git cannot be asked.

    It is told to people and decides nothing, so an apply without git goes on without it.
    """
    try:
        return _git(directory, "rev-parse", "--quiet", "--verify", "HEAD")
    except CampaignsError:
        return ""


def top_of_clone(directory: Path) -> Path | None:
    """The top of the working tree that a directory is in; None outside git, or if it cannot say."""
    try:
        top = _git(directory, "rev-parse", "--show-toplevel")
    except CampaignsError:
        return None
    return Path(top) if top else None


class Order(StrEnum):
    """How the commit that is checked out stands to another one."""

    SAME = "same"
    NEWER = "newer"
    OLDER = "older"
    DIVERGED = "diverged"
    UNKNOWN = "unknown"


def order_to(directory: Path, commit: str) -> Order:
    """How HEAD stands to `commit`; UNKNOWN where the clone does not have it, or git cannot say."""
    if not COMMIT.match(commit):
        return Order.UNKNOWN
    try:
        if not _git(directory, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}"):
            return Order.UNKNOWN
        ahead, behind = _git(
            directory, "rev-list", "--left-right", "--count", f"HEAD...{commit}"
        ).split()
    except (CampaignsError, ValueError):
        return Order.UNKNOWN
    match ahead != "0", behind != "0":
        case False, False:
            return Order.SAME
        case True, False:
            return Order.NEWER
        case False, True:
            return Order.OLDER
    return Order.DIVERGED


def has_whole_history(directory: Path) -> bool:
    """Whether a commit that is not found is none of HEAD's past: not so in a shallow clone."""
    try:
        return _git(directory, "rev-parse", "--is-shallow-repository") == "false"
    except CampaignsError:
        return False


def repository_name(directory: Path) -> str:
    """A name that is the same in every clone, for example ``github.com/org/repo//batch``.

    It is that of the ``origin`` remote (`remote_name`), and the directory's place in it where that
    is not the top. Empty outside git, and where no remote gives a name. Raises CampaignsError when
    git cannot be asked.
    """
    # First, since it fails where git refuses to read the repository; reading the remote does not.
    place = _git(directory, "rev-parse", "--show-prefix").rstrip("/")
    top = remote_name(_git(directory, "config", "--get", "remote.origin.url"))
    return f"{top}//{place}" if top and place else top


def _git(directory: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, no shell, arguments are ours
            ["git", "-C", str(directory), *arguments],  # noqa: S607 - git is found on PATH
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
            # What git says is read below, so it must not be translated.
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as error:
        raise _unreadable(directory, f"no answer in {TIMEOUT_SECONDS} s") from error
    except OSError as error:
        raise _unreadable(directory, f"cannot run git: {error.strerror}") from error
    if done.returncode == 0:
        return done.stdout.strip()
    said = done.stderr.strip().partition("\n")[0]
    # It fails without a word where what it was asked for is not set.
    if not said or said.startswith(NO_REPOSITORY):
        return ""
    raise _unreadable(directory, said)


def _unreadable(directory: Path, why: str) -> CampaignsError:
    return CampaignsError(f"git cannot read {directory}: {why}; set `repository` in converter.yaml")
