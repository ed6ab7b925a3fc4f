"""A call of `hold` or `release`, and what is told of it."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from converter.errors import CampaignsError
from converter.holds.errors import (
    DeadlinePassed,
    HoldError,
    InvalidCall,
    OutcomeUnknown,
    PodsRemain,
    Rejected,
    StaleHold,
    TooManyConflicts,
    Unsupported,
)

if TYPE_CHECKING:
    from converter.holds.api import Part

# The most specific first.
_OUTCOMES: Final[Sequence[tuple[type[CampaignsError], str]]] = (
    (InvalidCall, "invalid"),
    (DeadlinePassed, "deadline-passed"),
    (StaleHold, "stale"),
    (PodsRemain, "pods-remain"),
    (Rejected, "rejected"),
    (Unsupported, "unsupported"),
    (TooManyConflicts, "conflict"),
    (OutcomeUnknown, "unknown"),
)


def carried_out(
    call: Callable[[float], Sequence["Part"]],
    deadline: float,
    *,
    action: str,
    target: str,
    instance: int,
    output: str,
) -> int:
    """Make a call with the seconds that are left, and tell what came of it; the exit code.

    Raises click.UsageError for a call that makes no sense.
    """
    parts: Sequence[Part] = ()
    failure: CampaignsError | None = None
    try:
        parts = call(deadline - time.monotonic())
    except InvalidCall as error:
        raise click.UsageError(str(error)) from error
    except CampaignsError as error:
        failure = error
    code = int(failure is not None or any(part.failed for part in parts))
    if output == "json":
        document = {
            "version": 1,
            "action": action,
            "target": target,
            "instance": instance,
            "parts": [_part(part) for part in parts],
            "outcome": _word(failure) if failure else "",
            "error": str(failure) if failure else None,
            "exitCode": code,
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return code
    for part in parts:
        _tell(part, action, instance)
    if failure:
        click.echo(f"error: {failure}", err=True)
    return code


def _tell(part: "Part", action: str, instance: int) -> None:
    for line, err in _lines(part, action, instance):
        # What failed and what did not are told in the order of the parts.
        sys.stdout.flush()
        click.echo(line, err=err)


def _lines(part: "Part", action: str, instance: int) -> Iterator[tuple[str, bool]]:
    """The lines about a part, and whether they are for standard error."""
    outcome = part.outcome
    if isinstance(outcome, CampaignsError):
        if part.ended:
            yield f"ended: {part.target}: there is nothing to {action}", False
        else:
            yield f"error: {part.target}: {outcome}", True
        return
    done = {"hold": "held", "release": "released"}[action]
    said = done if outcome.wrote else f"already {done}"
    more = f"; {after}" if (after := _after(part, action)) else ""
    yield f"{said}: {part.target}: hold {instance} on {outcome.target}{more}", False
    if part.note:
        yield f"note: {part.target}: {part.note}", True


def _after(part: "Part", action: str) -> str:
    """What a release does not start, and why."""
    outcome = part.outcome
    if action != "release" or isinstance(outcome, CampaignsError):
        return ""
    state = outcome.state
    if state.ended:
        return "it has ended"
    if not state.stopped:
        return "it is queued again" if state.queued else "it runs again"
    if state.paused_in_git:
        return "git pauses it, so it stays stopped"
    if not state.opened:
        return "it waits at its start gate"
    return "it was inactive before the hold, and stays so"


def _part(part: "Part") -> dict[str, Any]:
    outcome = part.outcome
    if isinstance(outcome, CampaignsError):
        return {
            "target": part.target,
            "object": "",
            "outcome": _word(outcome),
            "ended": part.ended,
            "inForce": outcome.in_force if isinstance(outcome, HoldError) else None,
            "stopped": None,
            "message": str(outcome),
            "note": part.note,
        }
    state = outcome.state
    return {
        "target": part.target,
        "object": outcome.target,
        "outcome": "written" if outcome.wrote else "already",
        "ended": part.ended,
        "inForce": state.mark.instance if state.mark is not None else None,
        "stopped": state.stopped,
        "message": "",
        "note": part.note,
    }


def _word(error: CampaignsError) -> str:
    return next((word for kind, word in _OUTCOMES if isinstance(error, kind)), "unavailable")
