"""What an apply would change on a Slurm, from one look and by the plan that it makes. Pure."""

from collections.abc import Iterator, Sequence, Set
from difflib import unified_diff
from typing import Final

from converter.diff.change import Action, Change, Comparison
from converter.diff.objects import NOWHERE
from converter.errors import Refused
from converter.reconcile.plan import kept_by_hold
from converter.reconcile.prune import left_over
from converter.reconcile.slurm.array import PRUNE_WAS_STOPPED, array_of
from converter.reconcile.slurm.deciding import (
    Unwanted,
    check_prune,
    is_paused,
    never_in_words,
    pause_in_words,
    released_with_it,
    resume_of,
    settled,
    settling,
    stopped_prunes,
    unwanted,
    window_in_words,
)
from converter.reconcile.slurm.planning import Plan, Stray, plan
from converter.reconcile.slurm.submission import Submission
from converter.slurm.layout import RENDERED, SBATCH, TASK_SCRIPT
from converter.slurm.survey import Survey

NO_CAMPAIGN: Final = "there is no campaign in the repository: apply asks for --allow-empty"
# What people look for first; the script is the same for every campaign.
# Without the script of each task, which is long, always the same, and nobody's to review.
_FILES: Final = (SBATCH, *(name for name in RENDERED if name not in (SBATCH, TASK_SCRIPT)))


def compare(
    wanted: Sequence[Submission],
    found: Survey,
    *,
    prune: bool,
    release_holds: bool = False,
    prune_limit: int | None = None,
) -> Comparison:
    """What an apply of `wanted`, with these options or without, would do to what was found."""
    intended = plan(wanted, found)
    gone = unwanted(intended, found)
    changes = (
        *_of_campaigns(intended, wanted, found),
        *_created(intended),
        *_settled(intended, found),
        *_revived({each.campaign for each in wanted}, found),
        *_paused(intended, found),
        *_resumed(intended, found),
        *_unwanted(gone, prune=prune, release_holds=release_holds),
    )
    ordered = sorted(changes, key=lambda change: change.campaign)
    if prune and (why := _objection(wanted, gone, found, prune_limit, release_holds=release_holds)):
        ordered.insert(0, Change(Action.REFUSED, "prune", why))
    return Comparison(ordered)


def _of_campaigns(intended: Plan, wanted: Sequence[Submission], found: Survey) -> Iterator[Change]:
    for campaign, reason in intended.held_back.items():
        yield Change(Action.HELD_BACK, f"campaign {campaign}", reason, campaign)
    parts: dict[str, list[bool]] = {}
    for each in wanted:
        array = array_of(each.name, found)
        # Whether an apply has recorded how it ended is nothing that comes from git.
        parts.setdefault(each.campaign, []).append(array.has_ended or array.has_gone)
    for campaign, ended in parts.items():
        if all(ended) and campaign not in intended.held_back:
            yield Change(Action.FINISHED, f"campaign {campaign}", campaign=campaign)


def _created(intended: Plan) -> Iterator[Change]:
    for each in intended.submitted:
        diff = [line for name in _FILES for line in _new_file(each, name)]
        yield Change(Action.CREATE, _target(each), campaign=each.campaign, diff=tuple(diff))
        if each.suspended:
            detail = "it is submitted paused, and no task of it starts"
            yield Change(Action.PAUSE, _target(each), detail, each.campaign)


def _settled(intended: Plan, found: Survey) -> Iterator[Change]:
    for each in settled(intended, found):
        to_settle = settling(each, array_of(each.name, found))
        if to_settle.adopted:
            detail = f"job {to_settle.adopted} is there, and its number is to be kept"
            yield Change(Action.CHANGE, _target(each), detail, each.campaign)
        if (was := to_settle.window) is not None:
            detail, diff = window_in_words(was, each.window), _other_window(each, was)
            yield Change(Action.CHANGE, _target(each), detail, each.campaign, diff)


def _revived(campaigns: Set[str], found: Survey) -> Iterator[Change]:
    for name, campaign in stopped_prunes(campaigns, found):
        detail = f"{PRUNE_WAS_STOPPED}: that is undone"
        yield Change(Action.CHANGE, f"Array/{name}", detail, campaign)


def _paused(intended: Plan, found: Survey) -> Iterator[Change]:
    new = {each.name for each in intended.submitted}
    paused: tuple[Submission | Stray, ...] = (*intended.paused, *intended.strays)
    for each in paused:
        array = array_of(each.name, found)
        if each.name not in new and not is_paused(array):
            yield Change(Action.PAUSE, _target(each), pause_in_words(array), each.campaign)


def _resumed(intended: Plan, found: Survey) -> Iterator[Change]:
    new = {each.name for each in intended.submitted}
    for each in intended.resumed:
        array = array_of(each.name, found)
        if each.name in new:
            continue
        resume = resume_of(array, each.campaign)
        if resume.words:
            action = Action.RESUME if resume.starts else Action.CHANGE
            yield Change(action, _target(each), resume.words, each.campaign)
        for note in (resume.note, never_in_words(array)):
            if note:
                yield Change(Action.NOTE, _target(each), note, each.campaign)


def _unwanted(gone: Sequence[Unwanted], *, prune: bool, release_holds: bool) -> Iterator[Change]:
    whole: dict[str, Change] = {}
    for each in gone:
        campaign, target = each.campaign, f"campaign {each.campaign}"
        if not prune:
            if not each.is_over:
                whole[campaign] = Change(Action.STAYS, target, left_over(each.hold), campaign)
        elif each.hold and not release_holds:
            reason = kept_by_hold(each.hold)
            whole[campaign] = Change(Action.HELD_BACK, target, reason, campaign)
        elif each.astray:
            whole[campaign] = Change(Action.HELD_BACK, target, each.astray, campaign)
        else:
            released = f"is {released_with_it(each.hold)}" if each.hold else ""
            yield Change(Action.PRUNE, f"Array/{each.name}", released, campaign)
    yield from whole.values()


def _objection(
    wanted: Sequence[Submission],
    gone: Sequence[Unwanted],
    found: Survey,
    limit: int | None,
    *,
    release_holds: bool,
) -> str:
    """Why an apply with --prune would send nothing; empty where it would not refuse."""
    if not wanted:
        return NO_CAMPAIGN
    try:
        check_prune(gone, found, limit, release_holds=release_holds)
    except Refused as error:
        return str(error)
    return ""


def _target(part: Submission | Stray) -> str:
    return f"Array/{part.name}"


def _new_file(part: Submission, name: str) -> Iterator[str]:
    if name not in part.files:
        return
    lines = _lines(part.files[name])
    yield from (f"--- {NOWHERE}", f"+++ git/{_target(part)}/{name}", f"@@ -0,0 +1,{len(lines)} @@")
    yield from (f"+{line}" for line in lines)


def _other_window(part: Submission, was: int) -> tuple[str, ...]:
    """Of the arguments of sbatch: of an array that is there, no other one may change."""
    new = _lines(part.files[SBATCH])
    tasks = f"--array=0-{len(part.volumes) - 1}%"
    old = [f"{tasks}{was}" if line == f"{tasks}{part.window}" else line for line in new]
    names = (f"live/{_target(part)}/{SBATCH}", f"git/{_target(part)}/{SBATCH}")
    return tuple(unified_diff(old, new, *names, lineterm=""))


def _lines(text: str) -> list[str]:
    """Not splitlines(): a source may have a form feed in it, which ends no line here."""
    return [_plain(line) for line in text.removesuffix("\n").split("\n")]


def _plain(line: str) -> str:
    """Without what a terminal would act on."""
    if line.isprintable():
        return line
    return "".join(
        each if each.isprintable() or each == "\t" else each.encode("unicode_escape").decode()
        for each in line
    )
