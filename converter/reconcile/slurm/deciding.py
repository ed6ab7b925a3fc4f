"""What becomes of an array that the plan names, and in which words. Pure.

An apply carries it out and a diff shows it, so it is decided here for both.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_state import Reads, others_gate
from converter.holds.slurm_store import BY_GIT
from converter.holds.words import in_force, lifted_by
from converter.reconcile.held import strongest
from converter.reconcile.prune import check_number
from converter.reconcile.slurm.array import Array, array_of, arrays_in, by_campaign, campaign_of
from converter.reconcile.slurm.planning import Plan
from converter.reconcile.slurm.submission import Submission
from converter.slurm.comment import comment_of
from converter.slurm.job import Job
from converter.slurm.reasons import reason_of
from converter.slurm.survey import Survey

MAY_START: Final = "what waits may start"
_OPENED_GATE: Final = "its gate was shut and is opened"
OPENED: Final = f"{_OPENED_GATE}: {MAY_START}"


@dataclass(frozen=True, slots=True)
class Settling:
    """What is put right of an array that is there.

    `adopted` is the number to keep, 0 where one is kept. `window` is the one that it has, None
    where that stays.
    """

    adopted: int = 0
    window: int | None = None


def settling(wanted: Submission, array: Array) -> Settling:
    """Of an array that Slurm has."""
    state = array.state
    # What has just ended has no window any more.
    adopted = 0 if state is not None and state.job else array.numbers[0]
    if state is None or state.window == wanted.window or not (array.pending or array.going):
        return Settling(adopted)
    return Settling(adopted, state.window)


def window_in_words(was: int, now: int) -> str:
    """Another number of tasks at once."""
    return f"window {was} -> {now}"


def settled(intended: Plan, found: Survey) -> Iterator[Submission]:
    """The arrays that are there and may be put right, those that git pauses first."""
    for each in (*intended.paused, *intended.resumed):
        if each.campaign not in intended.held_back and array_of(each.name, found).numbers:
            yield each


def stopped_prunes(campaigns: Set[str], found: Survey) -> Iterator[tuple[str, str]]:
    """The arrays of these campaigns that a prune has told to end without cancelling them, each with
    its campaign."""
    for name, array in arrays_in(found).items():
        if array.prune_was_stopped and (campaign := campaign_of(array)) in campaigns:
            yield name, campaign


def is_paused(array: Array) -> bool:
    """Whether nothing that waits may start or comes back to start, and every record says that git
    pauses it: the release of a newer hold goes by that.
    """
    kept = array.state is not None and array.state.paused and array.marked
    return kept and not array.astray and all(map(_is_held_for_git, array.pending))


def _is_held_for_git(job: Job) -> bool:
    comment = comment_of(job.comment)
    told = comment is None or not comment.campaign or comment.paused
    return told and reading_of(job).mark is not None


def was_paused(array: Array) -> bool:
    """Whether git has paused it, also where the apply that did, or undid it, was stopped."""
    return array.marked or (array.state is not None and array.state.paused)


def pause_in_words(array: Array) -> str:
    """What a pause does to it."""
    going = len(array.going)
    tasks = f"; {going} task(s) run to their end" if going else ""
    return f"what waits does not start{tasks}"


def _resume_in_words(array: Array) -> str:
    """What a resume does to an array that is there; empty where nothing keeps it from running.

    That is git's own hold, or a gate that apply opens; a newer hold stays.
    """
    if was_paused(array) or any(reading_of(job).instance == BY_GIT for job in array.pending):
        return MAY_START
    shut = (job for job in array.pending if job.gated and job.gated_by_owner)
    # What asks for too much has a shut gate too, and opening it changes nothing.
    return OPENED if any(not reason_of(job.reason).is_final for job in shut) else ""


def never_in_words(array: Array) -> str:
    """Why what waits never starts, and what to do; empty where it may."""
    for job in array.pending:
        reason = reason_of(job.reason)
        if reason.is_final and reading_of(job).mark is None:
            return f"{reason.words} (Slurm: {job.reason}): {reason.remedy}"
    return ""


@dataclass(frozen=True, slots=True)
class Resume:
    """What git's wish that it runs changes about an array, and what it cannot.

    `starts` says whether anything may start by it; empty `words` are no change. `note` is what goes
    on as it was.
    """

    words: str = ""
    starts: bool = False
    note: str = ""


def resume_of(array: Array, campaign: str) -> Resume:
    """What an apply does about an array that git does not pause.

    Where a hold keeps all that waits, nothing starts: what goes is what git had said.
    """
    words, hold = _resume_in_words(array), _hold_in_words(array, campaign)
    if not words or not hold:
        return Resume(words, starts=bool(words), note=hold)
    if any(reading_of(job).instance in (None, BY_GIT) for job in array.pending):
        return Resume(f"{words}, but for what {hold}", starts=True)
    done = "git's pause is lifted" if words == MAY_START else _OPENED_GATE
    return Resume(f"{done}, and it {hold}")


def stuck_in_words(array: Array) -> str:
    """What keeps it stopped that no apply takes away; empty where there is nothing."""
    for job in array.pending:
        if job.gated and not job.gated_by_owner:
            return f"stays stopped: {others_gate(job)}"
        read = reading_of(job)
        if read.reads is Reads.FAR_START:
            return f"stays stopped: {read.note}: hold it and release it, which has it start"
    return ""


def _hold_in_words(array: Array, campaign: str) -> str:
    """That a hold keeps it stopped, and what lifts that; empty without one."""
    mark = array.hold
    return "" if mark is None else f"stays stopped: {in_force(mark)}; {lifted_by(mark, campaign)}"


@dataclass(frozen=True, slots=True)
class Unwanted:
    """An array that git has no more, or what is kept of one.

    `hold` is the one on its campaign, in words: a campaign stays whole. `is_over` where nothing of
    the array runs any more, `astray` why it cannot be cancelled from here.
    """

    name: str
    campaign: str
    numbers: tuple[int, ...]
    hold: str
    is_over: bool
    astray: str


def unwanted(intended: Plan, found: Survey) -> tuple[Unwanted, ...]:
    """All that a prune is about."""
    arrays = [(name, array_of(name, found)) for name in intended.unwanted]
    parts: dict[str, list[Array]] = {}
    for _, array in arrays:
        parts.setdefault(campaign_of(array), []).append(array)
    holds = {campaign: _hold_on(campaign, of_it) for campaign, of_it in parts.items()}
    return tuple(
        Unwanted(
            name,
            campaign_of(array),
            array.numbers,
            holds[campaign_of(array)],
            array.has_ended or array.has_gone,
            array.astray,
        )
        for name, array in arrays
    )


def _hold_on(campaign: str, parts: Iterable[Array]) -> str:
    mark = strongest(part.hold for part in parts)
    return "" if mark is None else f"{in_force(mark)}; {lifted_by(mark, campaign)}"


def check_prune(
    gone: Iterable[Unwanted], found: Survey, limit: int | None, *, release_holds: bool
) -> None:
    """Raises Refused where a prune would cancel more campaigns than looks intended."""
    cancelled = {each.campaign for each in gone if release_holds or not each.hold}
    live = by_campaign(arrays_in(found)).keys() - {""}
    check_number(sorted(cancelled), len(live), limit)


def released_with_it(hold: str) -> str:
    """What is said of a hold that goes with what it is on; empty without one."""
    return f"released with it, though {hold}" if hold else ""
