"""A call of `hold` or `release`, and what is told of it."""

import json
import re
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

_TASK: Final = re.compile(r"(?P<array>job/[0-9]+)_(?:[0-9]+|\[[-0-9,:]+\])")


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
    for line, err in lines_of(parts, action, instance):
        # What failed and what did not are told in the order of the parts.
        sys.stdout.flush()
        click.echo(line, err=err)
    if failure:
        click.echo(f"error: {failure}", err=True)
    return code


def lines_of(parts: Sequence["Part"], action: str, instance: int) -> Iterator[tuple[str, bool]]:
    """The lines about the parts, and whether each is for standard error.

    An array of Slurm may have thousands of tasks that have ended: they are told in one line.
    """
    keys = [(_array_of(part.target), _of_many(part, action)) for part in parts]
    alike: dict[tuple[str, str], list[Part]] = {}
    for part, key in zip(parts, keys, strict=True):
        alike.setdefault(key, []).append(part)
    for part, key in zip(parts, keys, strict=True):
        said = key[1]
        if not said:
            yield from _lines(part, action, instance)
        elif together := alike.pop(key, []):
            word, _, why = said.partition(": ")
            yield f"{word}: {_named(together)}: {why}", part.failed
    if action == "hold" and (going := _held_beside_running(parts)):
        yield (
            f"note: what waits is held, and {going} task(s) run on: one that fails and comes back "
            "to the queue is not held, so repeat this hold until none runs",
            True,
        )


def _held_beside_running(parts: Sequence["Part"]) -> int:
    """How many tasks run on while all that waits is held; 0 where nothing waits, or not all is."""
    waiting = [part for part in parts if not part.runs and not part.ended]
    if not waiting or any(part.failed for part in waiting):
        return 0
    return sum(part.runs for part in parts)


def _of_many(part: "Part", action: str) -> str:
    """What is told of all such parts of an array together; empty of one that has its own line."""
    from converter.holds.slurm_rules import HAS_ENDED

    if part.ended:
        return f"{'running' if part.runs else 'ended'}: there is nothing to {action}"
    return f"error: {HAS_ENDED}" if _reason(part) == HAS_ENDED else ""


def _reason(part: "Part") -> str:
    """Why it failed, without its own name in front."""
    return str(part.outcome).removeprefix(f"{part.target}: ")


def _array_of(target: str) -> str:
    """``tasks of job/21`` of ``job/21_3``; what is no task stands alone."""
    task = _TASK.fullmatch(target)
    return f"tasks of {task['array']}" if task else target


def _named(parts: Sequence["Part"]) -> str:
    from converter.slurm.tasks import tasks_of

    first = parts[0].target
    if len(parts) == 1:
        return first
    listed = (part.target.partition("_")[2].strip("[]") for part in parts)
    return f"{sum(len(tasks_of(each).ids) for each in listed)} {_array_of(first)}"


def _lines(part: "Part", action: str, instance: int) -> Iterator[tuple[str, bool]]:
    outcome = part.outcome
    if isinstance(outcome, CampaignsError):
        yield f"error: {part.target}: {_reason(part)}", True
        return
    done = {"hold": "held", "release": "released"}[action]
    said = done if outcome.wrote else f"already {done}"
    more = f"; {after}" if (after := _after(part, action)) else ""
    # On Slurm what is held and what is named are one.
    on = f" on {outcome.target}" if outcome.target != part.target else ""
    yield f"{said}: {part.target}: hold {instance}{on}{more}", False
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
        return (
            "git pauses it, so it stays stopped: take `suspend: true` out of its file and apply to "
            "have it run"
        )
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
            "runs": part.runs,
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
        "runs": part.runs,
    }


def _word(error: CampaignsError) -> str:
    return next((word for kind, word in _OUTCOMES if isinstance(error, kind)), "unavailable")
