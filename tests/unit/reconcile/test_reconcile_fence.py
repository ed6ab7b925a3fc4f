"""An older commit never undoes a newer one."""

from __future__ import annotations

import json

import pytest

from converter.errors import Refused
from converter.git import Order
from converter.names import APPLIED_COMMITS_ANNOTATION
from converter.reconcile.fence import Fence

OURS, LAST = "a" * 40, "b" * 40


def fence(order: Order, commit: str = OURS, **options: bool) -> Fence:
    return Fence("repo", commit, lambda _: order, **{"complete": True, **options})


def remembered(**commits: str) -> dict[str, str]:
    return {APPLIED_COMMITS_ANNOTATION: json.dumps(commits)}


def passed(through: Fence, annotations: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """What the Lease is to remember, and the warnings."""
    warnings: list[str] = []
    after = through.pass_through(annotations, warnings.append)
    return json.loads(after.get(APPLIED_COMMITS_ANNOTATION, "{}")), warnings


@pytest.mark.parametrize("order", [Order.SAME, Order.NEWER, Order.DIVERGED])
def test_a_commit_that_is_not_older_passes_and_is_remembered(order: Order) -> None:
    assert passed(fence(order), remembered(repo=LAST)) == ({"repo": OURS}, [])


@pytest.mark.parametrize(
    ("order", "says"),
    [
        (Order.OLDER, "commit aaaaaaaaaaaa is older than bbbbbbbbbbbb"),
        (Order.UNKNOWN, "commit bbbbbbbbbbbb, which was applied last, is not in this clone"),
    ],
)
def test_a_commit_that_is_or_may_be_older_is_refused(order: Order, says: str) -> None:
    with pytest.raises(Refused, match=says):
        passed(fence(order), remembered(repo=LAST))
    allowed = fence(order, allow_older=True)
    assert passed(allowed, remembered(repo=LAST)) == ({"repo": OURS}, [])


def test_a_shallow_clone_says_what_it_cannot_tell() -> None:
    after, (warning,) = passed(fence(Order.UNKNOWN, complete=False), remembered(repo=LAST))
    assert after == {"repo": OURS}
    assert "this clone is shallow" in warning


def test_without_git_the_last_commit_stays_remembered() -> None:
    after, (warning,) = passed(fence(Order.UNKNOWN, commit=""), remembered(repo=LAST))
    assert after == {"repo": LAST}
    assert "not a git repository" in warning


def test_repositories_that_share_a_namespace_are_told_apart() -> None:
    after, warnings = passed(fence(Order.OLDER), remembered(other=LAST))
    assert (after, warnings) == ({"other": LAST, "repo": OURS}, [])


@pytest.mark.parametrize("spoilt", ["", "[]", "{", '{"repo": 3}', "[" * 100_000])
def test_a_spoilt_memory_is_none(spoilt: str) -> None:
    annotations = {APPLIED_COMMITS_ANNOTATION: spoilt, "kept": "x"}
    after = fence(Order.OLDER).pass_through(annotations, lambda _: None)
    assert after["kept"] == "x"
    assert json.loads(after[APPLIED_COMMITS_ANNOTATION]) == {"repo": OURS}
