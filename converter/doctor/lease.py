"""Who applies at the moment, and which commit was applied last."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from converter.cluster.lease import is_held
from converter.doctor.finding import Check, Finding, Group
from converter.git import Order
from converter.names import LEASE_NAME
from converter.reconcile.fence import SHOWN, applied_commits
from converter.reconcile.queue_chain import Missing, Read, Unknown
from converter.wording import first_few

_LEASE: Final = Check(Group.APPLY, "lease")
_COMMIT: Final = Check(Group.APPLY, "commit")


def lease_finding(lease: Read, now: datetime) -> Finding:
    """Whether an apply runs; `now` is the API server's time."""
    if isinstance(lease, Unknown):
        return _LEASE.unknown(
            f"the Lease {LEASE_NAME}: {lease.why}", "run it as the apply identity"
        )
    if isinstance(lease, Missing):
        return _LEASE.ok("nothing has been applied in this namespace yet")
    spec = lease.get("spec") or {}
    holder = spec.get("holderIdentity")
    if not holder:
        return _LEASE.ok("no apply is running")
    times = f"since {spec.get('acquireTime') or 'unknown'}, renewed {spec.get('renewTime')}"
    if is_held(dict(lease), now):
        return _LEASE.ok(f"an apply is running: {holder}, {times}")
    return _LEASE.warning(
        f"an apply ended without giving the Lease up: {holder} holds {LEASE_NAME} {times}",
        "apply again: the Lease has expired, and an apply finishes what another one began",
    )


def commit_finding(
    lease: Read,
    repository: str,
    commit: str,
    order: Callable[[str], Order],
    place: str = "in this namespace",
) -> Finding:
    """How the commit that is checked out stands to the one that was applied last.

    `commit` is empty outside git; `order` is that of git, to another commit.
    """
    if isinstance(lease, Unknown):
        return _COMMIT.unknown("the commit applied last is not known", "see the check lease")
    annotations = {} if isinstance(lease, Missing) else lease["metadata"].get("annotations") or {}
    commits = applied_commits(annotations)
    others = [name for name in sorted(commits) if name != repository]
    also = f"; applied here too: {first_few(others)}" if others else ""
    last = commits.get(repository, "")
    if not last:
        return _COMMIT.ok(f"{repository} has not been applied {place} yet{also}")
    shown = f"{repository} was last applied at commit {last[:SHOWN]}"
    if not commit:
        return _COMMIT.unknown(
            f"{shown}, and there is no commit here{also}", "run it in a clone of the repository"
        )
    match order(last):
        case Order.OLDER:
            return _COMMIT.warning(
                f"{shown}, which is newer than the one here ({commit[:SHOWN]}){also}",
                "pull, or apply --allow-older to go back",
            )
        case Order.UNKNOWN:
            return _COMMIT.unknown(
                f"{shown}, which is not in this clone{also}", "fetch the whole history"
            )
        case found:
            return _COMMIT.ok(f"{shown}, which is {_stands(found)} the one here{also}")


def _stands(order: Order) -> str:
    return {Order.SAME: "the same as", Order.NEWER: "older than"}.get(order, "on another line than")
