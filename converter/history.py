"""What a repository said at the commit that its changes are compared with."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from converter import git
from converter.errors import CampaignsError
from converter.load.earlier import CAMPAIGNS, PLACES, Earlier, earlier, gone_from
from converter.load.result import LoadResult
from converter.load.wording import one_line, shown
from converter.wording import first_few

_SHORT: Final = 10


def earlier_repository(
    loaded: LoadResult, since: str | None, warn: Callable[[str], None]
) -> Earlier | None:
    """The files of `loaded` at the revision `since`; None where nothing has changed.

    Without `since` it is the commit that HEAD shares with the default branch of ``origin``, HEAD
    where there is none. Where that is not to be had `warn` is told, and None returned if git cannot
    be asked at all. With `since` that raises CampaignsError, as does a revision that git does not
    know.
    """
    if since is not None:
        return _compared(loaded, *_named(loaded, since), warn)
    if not git.is_in_clone(loaded.root):
        return None
    try:
        return _compared(loaded, *_assumed(loaded, warn), warn)
    except CampaignsError as error:
        if _has_no_commit(loaded.root):
            return None
        warn(f"not compared with any commit, so rules G found nothing: {error}")
        return None


def _has_no_commit(root: Path) -> bool:
    """Whether nothing was committed yet, so that there is nothing to compare with."""
    try:
        return not git.commit_named(root, "HEAD")
    except CampaignsError:
        return False


def _named(loaded: LoadResult, since: str) -> tuple[str, str]:
    """The id of a commit, and what to call it."""
    if not since:
        raise CampaignsError("no commit is named: write one, for example origin/main")
    if not git.is_in_clone(loaded.root):
        raise CampaignsError(f"{loaded.root} is not in a git repository")
    commit = git.commit_named(loaded.root, since)
    if not commit:
        raise CampaignsError(
            f"git knows no commit {shown(since)}; a shallow clone lacks older commits and other "
            "branches: fetch it (actions/checkout: fetch-depth: 0), or name another one"
        )
    return commit, shown(since)


def _assumed(loaded: LoadResult, warn: Callable[[str], None]) -> tuple[str, str]:
    if commit := git.common_commit(loaded.root):
        return commit, f"commit {commit[:_SHORT]}"
    if not git.has_whole_history(loaded.root):
        warn(
            "compared with HEAD alone, since this clone is shallow: fetch its history "
            "(actions/checkout: fetch-depth: 0), or name a commit with --since"
        )
    return "HEAD", "HEAD"


def _compared(
    loaded: LoadResult, commit: str, name: str, warn: Callable[[str], None]
) -> Earlier | None:
    if links := list(_links(loaded.root)):
        warn(
            f"not compared with {name}, since git knows of the links alone: {first_few(links)}: "
            "write files in their place for rules G"
        )
    blobs = git.changed_files(loaded.root, commit, PLACES)
    if not blobs:
        return None
    contents = git.blobs(loaded.root, {blob for blob in blobs.values() if blob})
    changed = {path: contents.get(blob) for path, blob in blobs.items()}
    # Campaigns whose own files are as they were matter only to a change of something that they use.
    alone = all(path.startswith(f"{CAMPAIGNS}/") for path in changed)
    is_enough = alone and not gone_from(loaded, changed)
    then = frozenset() if is_enough else git.files_in(loaded.root, commit, CAMPAIGNS)
    return earlier(loaded, name, changed, then)


def _links(root: Path) -> Iterator[str]:
    """The symbolic links among a repository's files and directories."""
    for place in PLACES:
        if (root / place).is_symlink():
            yield place
        elif (root / place).is_dir():
            with os.scandir(root / place) as entries:
                yield from sorted(
                    one_line(f"{place}/{each.name}") for each in entries if each.is_symlink()
                )
