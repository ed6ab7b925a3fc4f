"""The API server: its version, and its clock beside this machine's."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.reconcile.queue_chain import Read, Unknown

TRIED: Final = (1, 35)
# backoffLimitPerIndex is in every Job: generally available since 1.33 (KEP-3850), and a beta that
# is on by default, but may be off, since 1.29. podFailurePolicy is older (1.31 and 1.26).
STABLE: Final = (1, 33)
OLDEST: Final = (1, 29)

# A Date header has whole seconds.
WARN_SKEW: Final = timedelta(seconds=30)
MOST_SKEW: Final = timedelta(minutes=5)

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)")
_VERSION_CHECK: Final = Check(Group.SERVER, "server-version")
_CLOCK: Final = Check(Group.SERVER, "clock")


def parse_version(text: str) -> tuple[int, int] | None:
    """Major and minor of a version such as ``v1.35.4-gke.100``; None for what is none."""
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2])) if found else None


def version_finding(version: Read) -> Finding:
    """Whether the server keeps all that a campaign's Job says; `version` is from ``/version``."""
    check = _VERSION_CHECK
    if not isinstance(version, Mapping):
        why = version.why if isinstance(version, Unknown) else "it has no /version"
        return check.unknown(f"its version cannot be read: {why}", "ask who runs the cluster")
    spelt = str(version.get("gitVersion", ""))
    found = parse_version(spelt)
    if found is None:
        return check.unknown(f"its version is {spelt!r}", "ask who runs the cluster")
    if found < OLDEST:
        return check.fault(
            f"Kubernetes {spelt} drops backoffLimitPerIndex, so one failed volume would end a "
            "campaign",
            f"have the cluster upgraded to {_spelt(STABLE)} or later",
        )
    if found < STABLE:
        return check.warning(
            f"Kubernetes {spelt} has backoffLimitPerIndex as a beta, which may be switched off",
            f"have the cluster upgraded to {_spelt(STABLE)} or later",
        )
    newer = f"; newer than {_spelt(TRIED)}, which was tried" if found > TRIED else ""
    return check.ok(f"Kubernetes {spelt}{newer}")


def clock_finding(skew: timedelta | Unknown) -> Finding:
    """`skew` is by how much this machine's clock is ahead of the server's."""
    if isinstance(skew, Unknown):
        return _CLOCK.unknown(skew.why, "see whether a proxy takes the Date header away")
    seconds = round(abs(skew).total_seconds())
    if abs(skew) <= WARN_SKEW:
        return _CLOCK.ok("this machine's clock and the API server's agree to 30 s")
    side = "ahead of" if skew > timedelta() else "behind"
    found = f"this machine's clock is {seconds} s {side} the API server's"
    remedy = "set this machine's clock by NTP, or have the API server's set"
    return (_CLOCK.fault if abs(skew) > MOST_SKEW else _CLOCK.warning)(found, remedy)


def unreachable(why: str) -> Finding:
    """The server, or the credentials for it, cannot be used: nothing else can be asked."""
    check = Check(Group.SERVER, "reachable")
    return check.fault(why, "correct the kubeconfig or the token, or have the server repaired")


def reached(user: Read) -> Finding:
    """The server answers; `user` is a SelfSubjectReview."""
    check = Check(Group.SERVER, "reachable")
    if not isinstance(user, Mapping):
        return check.ok("it answers")
    info = (user.get("status") or {}).get("userInfo") or {}
    return check.ok(f"it answers, and knows this identity as {info.get('username', 'nobody')}")


def _spelt(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
