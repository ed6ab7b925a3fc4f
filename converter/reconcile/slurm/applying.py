"""One apply to a Slurm from end to end.

The lock, one look at everything, a plan, records of what has ended, pauses, submissions, resumes,
what git no longer has.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from converter.errors import ApiError, ClusterUnavailable, Refused
from converter.holds.errors import HoldError
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT
from converter.reconcile.fence import Fence
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import kept_by_hold
from converter.reconcile.prune import NO_CAMPAIGN, left_over
from converter.reconcile.slurm.array import Array, array_of
from converter.reconcile.slurm.deciding import (
    check_prune,
    is_paused,
    never_in_words,
    pause_in_words,
    released_with_it,
    resume_of,
    settled,
    settling,
    stuck_in_words,
    unwanted,
    was_paused,
    window_in_words,
)
from converter.reconcile.slurm.ending import record_of, volumes_of
from converter.reconcile.slurm.planning import Plan, plan
from converter.reconcile.slurm.steps import Steps
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import InvalidTasks, SlurmRefused, SlurmUnavailable
from converter.slurm.host import Host
from converter.slurm.job import Job
from converter.slurm.session import Session, locked
from converter.slurm.state import State, Step
from converter.slurm.survey import Survey, survey
from converter.times import rfc3339

# What keeps one array from what is to be done with it, and no other.
_TROUBLE = (HoldError, ApiError, SlurmRefused, ClusterUnavailable, InvalidTasks)

# Looks at what was paused: between two of them tasks may start, or come back.
LOOKS = 5

# What a task takes from its look at the mark of a pause to its gate.
TO_THE_GATE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to apply. `seconds` are for one call of Slurm's tools.

    The others are as for Kubernetes: with `all_or_nothing` nothing is sent where a campaign is held
    back, and without a `fence` commits are not compared.
    """

    repository: str
    identity: str
    commit: str
    directory: str
    seconds: float = 30.0
    prune: bool = False
    release_holds: bool = False
    allow_empty: bool = False
    prune_limit: int | None = None
    all_or_nothing: bool = False
    fence: Fence | None = None


@dataclass(slots=True)
class _Run:
    host: Host
    options: Options
    outcome: Outcome
    steps: Steps
    found: Survey
    states: dict[str, State] = field(default_factory=dict)

    def array(self, name: str) -> Array:
        """As it was found, with what this run has kept of it since."""
        return replace(array_of(name, self.found), state=self.states.get(name))

    def look(self) -> Survey:
        self.steps.session.check()
        options = self.options
        return survey(self.host, options.directory, options.repository, seconds=options.seconds)

    def note(self, fate: Fate, name: str, detail: str, campaign: str) -> None:
        self.outcome.add(Event(fate, f"Array/{name}", detail, campaign))


def apply(host: Host, wanted: Sequence[Submission], options: Options, outcome: Outcome) -> None:
    """Make Slurm agree with git; what happened is in `outcome`.

    Raises Refused and LeaseHeld before anything was changed, LeaseLost and SlurmUnavailable where
    the run stopped part-way: another apply finishes it.
    """
    if options.prune and not options.allow_empty and not wanted:
        raise Refused(NO_CAMPAIGN)
    with locked(host, options.directory, options.identity, seconds=options.seconds) as session:
        _apply_locked(host, session, wanted, options, outcome)


def _apply_locked(
    host: Host,
    session: Session,
    wanted: Sequence[Submission],
    options: Options,
    outcome: Outcome,
) -> None:
    found = survey(host, options.directory, options.repository, seconds=options.seconds)
    steps = Steps(
        session,
        options.repository,
        options.commit,
        found.host_epoch,
        cluster=found.cluster,
        user=found.user,
    )
    run = _Run(host, options, outcome, steps, found, dict(found.states))
    intended = plan(wanted, found)
    if options.prune:
        gone = unwanted(intended, found)
        check_prune(gone, found, options.prune_limit, release_holds=options.release_holds)
    if options.all_or_nothing and intended.held_back:
        first, why = next(iter(intended.held_back.items()))
        raise Refused(
            f"nothing was applied, since not all of it can be (campaign {first}: {why}): correct "
            "that, or apply without --all-or-nothing"
        )
    if options.fence is not None:
        steps.fence(options.fence, lambda text: outcome.add(Event(Fate.NOTE, "commit", text)))
    for campaign, reason in intended.held_back.items():
        event = Event(Fate.HELD_BACK, f"campaign {campaign}", reason, campaign)
        outcome.add(event)
    for campaign in intended.finished:
        outcome.add(Event(Fate.FINISHED, f"campaign {campaign}", "", campaign))
    # What runs is paused before anything is started.
    new = {each.name for each in intended.submitted}
    _pause(run, [each for each in intended.paused if each.name not in new])
    _record(run, intended, {each.name: each for each in wanted})
    done = _submit_all(run, intended.submitted)
    going = _settle_all(run, intended)
    _pause(run, [each for each in intended.paused if each.name in done])
    _resume(run, [each for each in intended.resumed if each.name in done or each.name in going])
    _prune(run, intended)


def _record(run: _Run, intended: Plan, wanted: Mapping[str, Submission]) -> None:
    for name in intended.ended:
        array = array_of(name, run.found)
        if array.state is None:
            continue
        # Git may have another list by now, or none.
        volumes = volumes_of(array.state, wanted.get(name)) or run.steps.volumes(name)
        record = record_of(array, volumes, rfc3339(run.found.host_epoch))
        try:
            run.states[name] = run.steps.end(array.state, record)
        except SlurmRefused as error:
            detail = f"its end was not recorded: {error}"
            run.note(Fate.REFUSED, name, detail, array.state.campaign)
            continue
        detail = f"{record.phase}: {record.done} of {record.total} volumes done"
        run.note(Fate.RECORDED, name, detail, array.state.campaign)


def _submit_all(run: _Run, wanted: Iterable[Submission]) -> set[str]:
    """Submit arrays, and give the names of those that were.

    What Slurm refuses is told, and all others go on. sbatch waits where Slurm has no room for more
    jobs: then none of the others is tried, and what makes room, such as a prune, goes on.
    """
    done: set[str] = set()
    away = ""
    for each in wanted:
        if away:
            detail = f"not submitted, since {away}: apply again"
            run.note(Fate.REFUSED, each.name, detail, each.campaign)
            continue
        try:
            state = run.steps.submit(each)
        except SlurmRefused as error:
            run.note(Fate.REFUSED, each.name, str(error), each.campaign)
            continue
        except SlurmUnavailable as error:
            away = f"Slurm took no submission in time ({error})"
            detail = f"{error}, so that it is not known whether it was submitted: apply again"
            run.note(Fate.REFUSED, each.name, detail, each.campaign)
            continue
        run.states[each.name] = state
        run.note(Fate.CREATED, each.name, f"job {state.job}", each.campaign)
        done.add(each.name)
    return done


def _settle_all(run: _Run, intended: Plan) -> set[str]:
    """What is there already: its number is kept, and its window is as git has it."""
    there = set()
    for each in settled(intended, run.found):
        array = run.array(each.name)
        found = settling(each, array)
        if found.adopted:
            try:
                run.states[each.name] = run.steps.adopt(each, array)
            except SlurmRefused as error:
                run.note(Fate.REFUSED, each.name, str(error), each.campaign)
                continue
            run.note(Fate.CONFIGURED, each.name, f"job {found.adopted} was there", each.campaign)
        there.add(each.name)
        if found.window is not None:
            _throttle(run, each, found.window)
        elif not found.adopted:
            run.note(Fate.UNCHANGED, each.name, "", each.campaign)
    return there


def _throttle(run: _Run, wanted: Submission, was: int) -> None:
    detail = window_in_words(was, wanted.window)
    try:
        run.states[wanted.name] = run.steps.throttle(run.states[wanted.name], wanted.window)
    except SlurmRefused as error:
        run.note(Fate.REFUSED, wanted.name, f"{detail}: {error}", wanted.campaign)
    else:
        run.note(Fate.CONFIGURED, wanted.name, detail, wanted.campaign)


def _pause(run: _Run, wanted: Sequence[Submission]) -> None:
    """Hold what waits, and look until nothing of it may start. What runs, runs to its end."""
    left = list(wanted)
    changed: dict[str, bool] = {}
    trouble: dict[str, str] = {}
    for number in range(LOOKS):
        now = run.look() if left and (number or _is_new(run, left)) else run.found
        left = [each for each in left if not is_paused(array_of(each.name, now))]
        for each in left:
            try:
                trouble[each.name] = ""
                _pause_one(run, each, array_of(each.name, now), marked=each.name in changed)
                changed[each.name] = True
            except _TROUBLE as error:
                trouble[each.name] = str(error)
        if not left:
            break
    for each in wanted:
        array = array_of(each.name, run.found)
        if each in left:
            why = trouble.get(each.name) or "tasks of it keep coming back to the queue"
            run.note(Fate.PAUSE_FAILED, each.name, f"{why}: apply again", each.campaign)
        elif changed.get(each.name):
            run.note(Fate.PAUSED, each.name, pause_in_words(array), each.campaign)


def _is_new(run: _Run, wanted: Iterable[Submission]) -> bool:
    return any(not array_of(each.name, run.found).numbers for each in wanted)


def _pause_one(run: _Run, wanted: Submission, array: Array, *, marked: bool) -> None:
    try:
        if not marked:
            run.steps.mark(wanted.name, paused=True)
    finally:
        # What waits is held also where its directory is out of reach.
        _each_of(array.pending, lambda job: run.steps.hold(job, pauses=True))
    if array.astray:
        raise SlurmRefused(array.astray)
    state = run.states.get(wanted.name)
    if state is None and array.numbers:
        state = run.steps.adopt(wanted, array)
    if state is not None and not state.paused:
        run.states[wanted.name] = run.steps.save(replace(state, paused=True))


def _each_of(jobs: Iterable[Job], step: Callable[[Job], object]) -> None:
    """Take a step with every record. Raises what went wrong first, once all were tried."""
    wrong: list[Exception] = []
    for job in jobs:
        try:
            step(job)
        except _TROUBLE as error:
            wrong.append(error)
    if wrong:
        raise wrong[0]


def _resume(run: _Run, wanted: Sequence[Submission]) -> None:
    """Lift git's own hold, and open the gates. A newer hold wins, and is told."""
    found = run.look() if _is_new(run, wanted) else run.found
    late: list[Submission] = []
    for each in wanted:
        state = run.states.get(each.name)
        if state is None:
            continue
        array = replace(array_of(each.name, found), state=state)
        if was_paused(array) and array.going:
            late.append(each)
        resume = resume_of(array, each.campaign)
        if resume.words or state.step is not Step.OPENED:
            try:
                _resume_one(run, each, array, state)
                opened = run.steps.save(replace(state, step=Step.OPENED, paused=False))
            except _TROUBLE as error:
                run.note(Fate.RESUME_FAILED, each.name, f"{error}: apply again", each.campaign)
                continue
            run.states[each.name] = opened
        if never := never_in_words(array):
            run.note(Fate.RESUME_FAILED, each.name, never, each.campaign)
        for kept in (resume.note, stuck_in_words(array)):
            if kept:
                run.note(Fate.NOTE, each.name, kept, each.campaign)
        # What is new starts, and that was told.
        if resume.words and array_of(each.name, run.found).numbers:
            fate = Fate.RESUMED if resume.starts else Fate.CONFIGURED
            run.note(fate, each.name, resume.words, each.campaign)
    if late:
        _open_late(run, late)


def _open_late(run: _Run, resumed: Iterable[Submission]) -> None:
    """Open the gates of tasks that saw the mark just before it was taken away, and went there."""
    time.sleep(TO_THE_GATE_SECONDS)
    found = run.look()
    for each in resumed:
        try:
            run.steps.open(array_of(each.name, found).pending)
        except _TROUBLE as error:
            run.note(Fate.RESUME_FAILED, each.name, f"{error}: apply again", each.campaign)


def _resume_one(run: _Run, wanted: Submission, array: Array, state: State) -> None:
    if others := sorted(set(array.numbers) - {state.job}):
        # One that was on its way for longer than anything should be.
        numbers = " ".join(map(str, others))
        raise SlurmRefused(
            f"Slurm has {numbers} under its name beside array {state.job}, and neither is opened: "
            f"cancel that with scancel {numbers}"
        )
    paused = was_paused(array)
    if paused:
        run.steps.mark(wanted.name, paused=False)
    _each_of(
        (job for job in array.pending if paused or reading_of(job).instance == BY_GIT),
        lambda job: run.steps.hold(job, pauses=False),
    )
    run.steps.open(array.pending)


def _prune(run: _Run, intended: Plan) -> None:
    told: set[str] = set()
    # Somebody may have held one of them while this apply was at the others.
    found = run.look() if run.options.prune and intended.unwanted else run.found
    for each in unwanted(intended, found):
        campaign = each.campaign
        target = f"campaign {campaign}"
        if not run.options.prune:
            if not each.is_over and campaign not in told:
                run.outcome.add(Event(Fate.NOTE, target, left_over(each.hold), campaign))
                told.add(campaign)
        elif each.hold and not run.options.release_holds:
            if campaign not in told:
                event = Event(Fate.HELD_BACK, target, kept_by_hold(each.hold), campaign)
                run.outcome.add(event)
                told.add(campaign)
        elif each.astray:
            run.note(Fate.PRUNE_FAILED, each.name, each.astray, campaign)
        else:
            try:
                run.steps.cancel(each.name, each.numbers)
            except SlurmRefused as error:
                run.note(Fate.PRUNE_FAILED, each.name, str(error), campaign)
                continue
            run.note(Fate.PRUNED, each.name, released_with_it(each.hold), campaign)
