"""What git says about a repository's directory.

What is not there (no repository, no commit, no remote) is empty. That git could not be asked is
another matter: it must not be taken for that.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from converter.errors import CampaignsError
from converter.remote import remote_name

TIMEOUT_SECONDS = 20
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_ORIGIN: Final = "refs/remotes/origin"
# What the default branch is probably called where nobody has said it: a clone of one branch, or a
# remote that was added later, has no origin/HEAD.
_USUAL_BRANCHES: Final = (f"{_ORIGIN}/main", f"{_ORIGIN}/master")
_REGULAR_FILE: Final = b"100"
# git sets these for its hooks. They are about the repository that the hook runs for, and some are
# relative to the directory that it runs in.
_OF_A_HOOK: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
)
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
    try:
        place = _git(directory, "rev-parse", "--show-prefix").rstrip("/")
        top = remote_name(_git(directory, "config", "--get", "remote.origin.url"))
    except CampaignsError as error:
        raise CampaignsError(f"{error}; set `repository` in converter.yaml") from error
    return f"{top}//{place}" if top and place else top


def is_in_clone(directory: Path) -> bool:
    """Whether a directory is in a working tree of git, as far as that shows without asking git."""
    place = directory.resolve()
    return any(os.path.lexists(parent / ".git") for parent in (place, *place.parents))


def commit_named(directory: Path, revision: str) -> str:
    """The full id of the commit that `revision` names; empty where the clone does not have it.

    Raises CampaignsError when git cannot be asked.
    """
    # No name of a revision begins so, and git would take it for an option.
    if not revision or revision.startswith("-"):
        return ""
    named = ("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
    done = _run(directory, named, _without_hook())
    # It fails without a word where there is no such revision.
    if done.returncode != 0 and (said := _first_line(done)):
        raise _unreadable(directory, said)
    found = _text(done.stdout)
    return found if COMMIT.match(found) else ""


def common_commit(directory: Path) -> str:
    """The full id of the last commit that HEAD shares with the remote's default branch.

    Empty where there is none, or no such branch. Raises CampaignsError when git cannot be asked.
    """
    if found := _shared_with(directory, f"{_ORIGIN}/HEAD"):
        return found
    known = _text(_bytes(directory, "for-each-ref", "--format=%(refname)", *_USUAL_BRANCHES))
    for branch in known.splitlines():
        if found := _shared_with(directory, branch):
            return found
    return ""


def _shared_with(directory: Path, branch: str) -> str:
    done = _run(directory, ("merge-base", "HEAD", branch), _without_hook())
    found = _text(done.stdout).partition("\n")[0]
    return found if COMMIT.match(found) else ""


def changed_files(directory: Path, commit: str, places: Sequence[str]) -> Mapping[str, str]:
    """The files in `places` that are not in the working tree as they are in `commit`.

    By path, from `directory` on: the id of the blob that `commit` has, empty where it has no
    regular file of that path. A file that git does not track is only there if `commit` has it. A
    file whose line ends or whose mode alone differ may be there. Raises CampaignsError.
    """
    compare = ("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--relative", "--no-color")
    changed: dict[str, str] = {}
    fields = iter(_bytes(directory, *compare, commit, "--", *places).split(b"\0"))
    # ":<old mode> <new mode> <old id> <new id> <status>", and the path in a field of its own.
    for described, path in zip(fields, fields, strict=False):
        mode, _, blob, *_ = described.removeprefix(b":").split(b" ")
        is_file = mode.startswith(_REGULAR_FILE)
        changed[os.fsdecode(path)] = blob.decode() if is_file else ""
    return changed


def files_in(directory: Path, commit: str, place: str) -> frozenset[str]:
    """The paths, from `directory` on, of what `commit` has in the directory `place`.

    Raises CampaignsError.
    """
    listed = _bytes(directory, "ls-tree", "-z", "--name-only", commit, f"{place}/")
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)


def blobs(directory: Path, ids: Iterable[str]) -> Mapping[str, bytes]:
    """The contents of blobs by their full ids; one that the clone does not have is left out.

    Raises CampaignsError.
    """
    wanted = "".join(f"{each}\n" for each in ids).encode()
    return dict(_batch(_bytes(directory, "cat-file", "--batch", given=wanted)))


def _batch(output: bytes) -> Iterator[tuple[str, bytes]]:
    """``<id> blob <size>``, a line with the contents after it; or ``<id> missing``."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        blob, *described = output[position:end].split(b" ")
        position = end + 1
        if len(described) == 2:
            kind, size = described
            end = position + int(size)
            if kind == b"blob":
                yield blob.decode(), output[position:end]
            position = end + 1


def _git(directory: Path, *arguments: str) -> str:
    done = _run(directory, arguments, os.environ)
    if done.returncode == 0:
        return _text(done.stdout)
    said = _first_line(done)
    # It fails without a word where what it was asked for is not set.
    if not said or said.startswith(NO_REPOSITORY):
        return ""
    raise _unreadable(directory, said)


def _bytes(directory: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = _run(directory, arguments, _without_hook(), given)
    if done.returncode != 0:
        raise _unreadable(directory, _first_line(done) or f"exit code {done.returncode}")
    return done.stdout


def _run(
    directory: Path, arguments: Sequence[str], environment: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - fixed program, no shell, arguments are checked
            ["git", "-C", str(directory), *arguments],  # noqa: S607 - git is found on PATH
            input=given,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            # What git says is read, so it must not be translated.
            env={**environment, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as error:
        raise _unreadable(directory, f"no answer in {TIMEOUT_SECONDS} s") from error
    except OSError as error:
        raise _unreadable(directory, f"cannot run git: {error.strerror}") from error


def _without_hook() -> Mapping[str, str]:
    """The environment for looking at `directory` alone, also while a commit is being made."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    # A partial clone may have to fetch a blob, and nobody is there to type a password.
    return {**kept, "GIT_TERMINAL_PROMPT": "0"}


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()


def _first_line(done: subprocess.CompletedProcess[bytes]) -> str:
    return _text(done.stderr).partition("\n")[0]


def _unreadable(directory: Path, why: str) -> CampaignsError:
    return CampaignsError(f"git cannot read {directory}: {why}")
