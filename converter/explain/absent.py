"""Campaigns that are not on the cluster, or not as git has them."""

from collections.abc import Iterator

from converter.explain.cause import Cause
from converter.explain.facts import Facts
from converter.explain.refused import code_of
from converter.explain.text import listed
from converter.holds.words import named
from converter.observe.phase import Phase
from converter.observe.refusal import By, Refusal
from converter.observe.status import NOT_IN_GIT
from converter.observe.wanted import NOT_PAUSED, NOT_RESUMED
from converter.split import split

_REMEDIES = {
    "webhook-down": "the platform team has to see to it that this webhook answers; then apply "
    "again (run the CI job once more)",
    "refused-by-policy": "write in the files what the policy asks for, or have the platform team "
    "except campaigns from it",
    "namespace-quota": "wait until others have ended, or have the ResourceQuota raised; then apply "
    "again",
}


def absent(facts: Facts) -> Iterator[Cause]:
    """A campaign that is in git and of which nothing is on the cluster, or not all of it."""
    if facts.campaign is None:
        return
    if facts.status.phase is Phase.MISSING:
        yield _missing(facts, "")
    elif facts.status.parts > 1:
        there = {part.name for part in facts.parts()} | set(facts.records)
        parts = [part.job for part in split(facts.campaign, facts.settings)]
        if gone := [job for job in parts if job not in there]:
            are = "are" if len(gone) > 1 else "is"
            yield _missing(facts, f"{listed(gone)} {are} not on the cluster")


def decides(drift: str) -> bool:
    """Whether it is this difference from git that makes a campaign run or not."""
    return drift in (NOT_IN_GIT, NOT_PAUSED, NOT_RESUMED)


def drifted(facts: Facts) -> Iterator[Cause]:
    """One that goes on as it was applied, while git says something else of it."""
    drift = facts.status.drift
    if not drift or facts.status.phase.is_end:
        return
    if drift == NOT_IN_GIT:
        mark = facts.status.hold
        goes_on = "stays where it is" if mark else "goes on"
        when = f" when {named(mark)} is released, or with --release-holds," if mark else ""
        yield Cause(
            "not-in-git",
            f"there is no {facts.file} in git any more, and its Job {goes_on}",
            f"run `campaigns apply --prune`{when} to cancel it, or put the file back to keep it",
        )
        return
    refusal = facts.snapshot.refusals.get(facts.status.name)
    if refusal:
        yield Cause(
            "drifted",
            f"git and the cluster differ ({drift}), and {refusal}",
            _remedy(refusal),
        )
        return
    yield Cause(
        "drifted",
        f"git and the cluster differ: {drift}",
        "merge, and look whether CI's job that applies it has run; or run `campaigns apply`",
    )


def _missing(facts: Facts, which: str) -> Cause:
    """`which` parts are missing; empty where all of it is."""
    refusals = facts.snapshot.refusals
    what = which or "it is not on the cluster"
    if facts.status.name not in refusals:
        return Cause(
            "not-applied",
            f"{what}, and what keeps apply from creating it could not be tried out",
            "see what the last `campaigns apply` said of it in CI's log",
        )
    refusal = refusals[facts.status.name]
    if refusal is None:
        return Cause(
            "not-applied",
            f"{what}: no apply has run since {facts.file} came into git",
            "merge, and look whether CI's job that applies it has run; or run `campaigns apply`",
        )
    sentence = f"{which}: {refusal}" if which else str(refusal)
    return Cause(_code(refusal), sentence, _remedy(refusal))


def _code(refusal: Refusal) -> str:
    return code_of(refusal.why) or ("held-back" if refusal.by is By.APPLY else "refused")


def _remedy(refusal: Refusal) -> str:
    return _REMEDIES.get(_code(refusal), "change what it says; the next `campaigns apply` sends it")
