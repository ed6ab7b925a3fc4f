"""One apply to a Slurm from end to end.

The lock, one look at everything, a plan, records of what has ended, pauses, submissions, resumes,
what git no longer has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from converter.errors import ApiError, ClusterUnavailable, Refused
from converter.holds.errors import HoldError
from converter.holds.mark import Mark
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT
from converter.holds.words import in_force, lifted_by
from converter.reconcile.fence import Fence
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import kept_by_hold
from converter.reconcile.prune import NO_CAMPAIGN, check_number, left_over
from converter.reconcile.slurm.ending import record_of
from converter.reconcile.slurm.planning import Array, Plan, array_of, plan
from converter.reconcile.slurm.steps import Steps
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import SlurmRefused
from converter.slurm.host import Host
from converter.slurm.session import Session, locked
from converter.slurm.state import State, Step
from converter.slurm.survey import Survey, survey
from converter.times import rfc3339

# Looks at what was paused: between two of them tasks may start, or come back.
LOOKS = 5


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
    steps = Steps(session, options.repository, options.commit, found.host_epoch)
    run = _Run(host, options, outcome, steps, found, dict(found.states))
    intended = plan(wanted, found)
    if options.prune:
        cancelled = sorted({_campaign(run, name) for name in intended.unwanted})
        live = {state.campaign for state in found.states.values()}
        check_number(cancelled, len(live), options.prune_limit)
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
    _record(run, intended, {each.name: each.volumes for each in wanted})
    done = {each.name for each in intended.submitted if _submit(run, each)}
    going = _settle_all(run, intended, done)
    _pause(run, [each for each in intended.paused if each.name in done])
    _resume(run, [each for each in intended.resumed if each.name in done or each.name in going])
    _prune(run, intended)


def _campaign(run: _Run, name: str) -> str:
    state = run.found.states.get(name)
    return state.campaign if state is not None else name


def _record(run: _Run, intended: Plan, volumes: Mapping[str, Sequence[str]]) -> None:
    for name in intended.ended:
        array = array_of(name, run.found)
        if array.state is None:
            continue
        record = record_of(array, volumes.get(name, ()), rfc3339(run.found.host_epoch))
        run.states[name] = run.steps.end(array.state, record)
        detail = f"{record.phase}: {record.done} of {record.total} volumes done"
        run.note(Fate.RECORDED, name, detail, array.state.campaign)


def _submit(run: _Run, wanted: Submission) -> bool:
    """Submit an array. What Slurm refuses is told, and all others go on."""
    try:
        state = run.steps.submit(wanted)
    except SlurmRefused as error:
        run.note(Fate.REFUSED, wanted.name, str(error), wanted.campaign)
        return False
    run.states[wanted.name] = state
    run.note(Fate.CREATED, wanted.name, f"job {state.job}", wanted.campaign)
    return True


def _settle_all(run: _Run, intended: Plan, new: set[str]) -> set[str]:
    """What is there already: its number is kept, and its window is as git has it."""
    there = []
    for each in (*intended.paused, *intended.resumed):
        array = array_of(each.name, run.found)
        if each.name in new or not array.numbers or each.campaign in intended.held_back:
            continue
        there.append(each.name)
        state = run.states.get(each.name)
        if state is None or not state.job:
            state = run.states[each.name] = run.steps.adopt(each, array)
            run.note(Fate.CONFIGURED, each.name, f"job {state.job} was there", each.campaign)
        if state.window != each.window:
            _throttle(run, each, state)
        elif state.step is not Step.SUBMITTED:
            run.note(Fate.UNCHANGED, each.name, "", each.campaign)
    return set(there)


def _throttle(run: _Run, wanted: Submission, state: State) -> None:
    change = f"window {state.window} -> {wanted.window}"
    try:
        run.states[wanted.name] = run.steps.throttle(state, wanted.window)
    except SlurmRefused as error:
        run.note(Fate.REFUSED, wanted.name, f"{change}: {error}", wanted.campaign)
    else:
        run.note(Fate.CONFIGURED, wanted.name, change, wanted.campaign)


def _pause(run: _Run, wanted: Sequence[Submission]) -> None:
    """Hold what waits, and look until nothing of it may start. What runs, runs to its end."""
    left = list(wanted)
    changed: dict[str, bool] = {}
    trouble: dict[str, str] = {}
    for number in range(LOOKS):
        now = run.look() if left and (number or _is_new(run, left)) else run.found
        left = [each for each in left if not _is_paused(array_of(each.name, now))]
        for each in left:
            try:
                trouble[each.name] = ""
                _pause_one(run, each, array_of(each.name, now), marked=each.name in changed)
                changed[each.name] = True
            except (HoldError, ApiError, SlurmRefused, ClusterUnavailable) as error:
                trouble[each.name] = str(error)
        if not left:
            break
    for each in wanted:
        array = array_of(each.name, run.found)
        if each in left:
            why = trouble.get(each.name) or "tasks of it keep coming back to the queue"
            run.note(Fate.PAUSE_FAILED, each.name, f"{why}: apply again", each.campaign)
        elif changed.get(each.name):
            going = len(array.going)
            tasks = f"; {going} task(s) run to their end" if going else ""
            run.note(Fate.PAUSED, each.name, f"what waits does not start{tasks}", each.campaign)


def _is_new(run: _Run, wanted: Iterable[Submission]) -> bool:
    return any(each.name not in run.found.jobs for each in wanted)


def _is_paused(array: Array) -> bool:
    """Whether nothing that waits may start, and every record says that git pauses it."""
    marked = array.state is not None and array.state.paused
    return marked and all(reading_of(job).mark is not None for job in array.pending)


def _pause_one(run: _Run, wanted: Submission, array: Array, *, marked: bool) -> None:
    if not marked:
        run.steps.mark(wanted.name, paused=True)
    for job in array.pending:
        run.steps.hold(job, pauses=True)
    state = run.states.get(wanted.name)
    if state is not None and not state.paused:
        run.states[wanted.name] = run.steps.save(replace(state, paused=True))


def _resume(run: _Run, wanted: Sequence[Submission]) -> None:
    """Lift git's own hold, and open the gates. A newer hold wins, and is told."""
    found = run.look() if _is_new(run, wanted) else run.found
    for each in wanted:
        array, state = array_of(each.name, found), run.states.get(each.name)
        if state is None:
            continue
        was_paused = state.paused
        if state.step is Step.OPENED and not was_paused and not _is_stopped(array):
            if array.hold is not None:
                _tell_of_hold(run, each, array.hold)
            continue
        try:
            kept = _resume_one(run, each, array, was_paused=was_paused)
        except (HoldError, ApiError, SlurmRefused, ClusterUnavailable) as error:
            run.note(Fate.RESUME_FAILED, each.name, f"{error}: apply again", each.campaign)
            continue
        run.states[each.name] = run.steps.save(replace(state, step=Step.OPENED, paused=False))
        if kept is not None:
            _tell_of_hold(run, each, kept)
        if was_paused:
            run.note(Fate.RESUMED, each.name, "what waits may start", each.campaign)


def _is_stopped(array: Array) -> bool:
    """Whether git's own hold, or a gate that apply opens, is left of a pause."""
    return any(
        reading_of(job).instance == BY_GIT or (job.gated and job.gated_by_owner)
        for job in array.pending
    )


def _resume_one(run: _Run, wanted: Submission, array: Array, *, was_paused: bool) -> Mark | None:
    if was_paused:
        run.steps.mark(wanted.name, paused=False)
    kept: Mark | None = None
    for job in array.pending:
        if was_paused or reading_of(job).instance == BY_GIT:
            kept = run.steps.hold(job, pauses=False) or kept
    run.steps.open(array.pending)
    return kept


def _tell_of_hold(run: _Run, wanted: Submission, mark: Mark) -> None:
    detail = f"stays stopped: {in_force(mark)}; {lifted_by(mark, wanted.campaign)}"
    run.note(Fate.NOTE, wanted.name, detail, wanted.campaign)


def _prune(run: _Run, intended: Plan) -> None:
    for name in intended.unwanted:
        array, campaign = array_of(name, run.found), _campaign(run, name)
        mark = array.hold
        hold = "" if mark is None else f"{in_force(mark)}; {lifted_by(mark, campaign)}"
        if not run.options.prune:
            if not array.has_ended:
                detail = left_over(hold)
                run.outcome.add(Event(Fate.NOTE, f"campaign {campaign}", detail, campaign))
            continue
        if hold and not run.options.release_holds:
            reason = kept_by_hold(hold)
            run.outcome.add(Event(Fate.HELD_BACK, f"campaign {campaign}", reason, campaign))
            continue
        try:
            run.steps.cancel(name, array.numbers)
        except SlurmRefused as error:
            run.note(Fate.PRUNE_FAILED, name, str(error), campaign)
            continue
        run.note(Fate.PRUNED, name, "", campaign)
