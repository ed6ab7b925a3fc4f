"""An old CI job that runs late must not undo a newer merge.

The Lease remembers, for each repository, the commit that was applied last. The commit is written as
the Lease is taken: an apply that dies half-way has begun to replace what was there before.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from converter.errors import Refused
from converter.git import Order
from converter.names import APPLIED_COMMITS_ANNOTATION

SHOWN = 12


@dataclass(frozen=True, slots=True)
class Fence:
    """The commit to apply, empty outside git, and how it stands to another one.

    `complete` tells a clone with all its history from a shallow one, in which a commit that is not
    found says nothing.
    """

    repository: str
    commit: str
    order: Callable[[str], Order]
    complete: bool
    allow_older: bool = False

    def pass_through(
        self, annotations: Mapping[str, str], warn: Callable[[str], None]
    ) -> dict[str, str]:
        """The Lease's annotations with this commit as the last one of the repository.

        Raises Refused where the commit is older than the last one, or may be. What cannot be
        checked is said through `warn`.
        """
        commits = applied_commits(annotations)
        last = commits.get(self.repository, "")
        if last and last != self.commit and not self.allow_older:
            self._compare(last, warn)
        if not self.commit:
            return dict(annotations)
        text = json.dumps({**commits, self.repository: self.commit}, sort_keys=True)
        return {**annotations, APPLIED_COMMITS_ANNOTATION: text}

    def _compare(self, last: str, warn: Callable[[str], None]) -> None:
        shown = f"commit {last[:SHOWN]}, which was applied last,"
        if not self.commit:
            warn(f"whether {shown} is newer cannot be told: this is not a git repository")
            return
        ours = f"commit {self.commit[:SHOWN]}"
        match self.order(last):
            case Order.OLDER:
                raise Refused(
                    f"{ours} is older than {last[:SHOWN]}, which was applied last; nothing was "
                    "changed: apply the newest commit, or pass --allow-older to go back"
                )
            case Order.UNKNOWN if self.complete:
                raise Refused(
                    f"{shown} is not in this clone, so {ours} may be older; nothing was changed: "
                    "fetch it, or pass --allow-older after a rewritten history"
                )
            case Order.UNKNOWN:
                warn(
                    f"whether {shown} is newer cannot be told: this clone is shallow; fetch the "
                    "whole history (fetch-depth: 0)"
                )
            case Order.SAME | Order.NEWER | Order.DIVERGED:
                pass


def applied_commits(annotations: Mapping[str, str]) -> dict[str, str]:
    """What the Lease remembers. What somebody spoilt by hand is as good as nothing."""
    try:
        found = json.loads(annotations.get(APPLIED_COMMITS_ANNOTATION, "{}"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: commit for name, commit in found.items() if isinstance(commit, str)}
