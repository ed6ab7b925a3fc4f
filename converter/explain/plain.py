"""Campaigns without a queue that were stopped, should be, or were never started."""

from collections.abc import Iterator

from converter.cluster.objects import annotation, is_suspended
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.stopped import ENDING_SECONDS, is_past
from converter.explain.text import counted
from converter.holds.words import named
from converter.names import OPENED_ANNOTATION, SUSPEND_ANNOTATION
from converter.observe.phase import Phase


def unenforced(part: Part) -> Iterator[Cause]:
    """A pause or hold that is wanted and not carried out."""
    pods = counted(part.status.active, "pod")
    mark = part.status.hold
    if mark and not is_suspended(part.job):
        yield Cause(
            "hold-not-enforced",
            f"{named(mark)} does not stop it: its Job is not suspended, and {pods} there",
            "ask who placed it to place it again, or to release it",
        )
    elif part.status.phase is Phase.PAUSING and not is_suspended(part.job):
        yield Cause(
            "pause-not-applied",
            f"git pauses it, and its Job is not suspended: {pods} there",
            "run `campaigns apply` again; where that is in vain, somebody else sets spec.suspend",
        )
    elif part.status.phase is Phase.PAUSING:
        late = is_past(part, part.status.since, ENDING_SECONDS)
        yield Cause(
            "pause-not-enforced" if late else "pausing",
            f"it was stopped at {part.status.since}, and {pods} there",
            "the platform team has to look after the nodes of these pods: one that is lost, or "
            "hangs, does not say that a pod has ended"
            if late
            else "wait; a pod has 120 s to end",
        )


def not_running(part: Part) -> Iterator[Cause]:
    """Suspended by neither git nor a hold."""
    if part.status.hold or annotation(part.job, SUSPEND_ANNOTATION) == "true":
        return
    if part.status.phase is Phase.WAITING and annotation(part.job, OPENED_ANNOTATION) != "true":
        yield Cause(
            "not-started",
            "its Job was created, and the apply that did so has not started it",
            "run `campaigns apply` again",
        )
    elif part.status.phase is Phase.PAUSED:
        yield Cause(
            "paused-by-hand",
            "somebody suspended its Job on the cluster, and git lets it run",
            "run `campaigns apply`, which lets it go on; to keep it paused, write suspend: true "
            f"in {part.facts.file}",
        )
