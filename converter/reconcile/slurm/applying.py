"""One apply to a Slurm from end to end.

The lock, one look at everything, a plan, records of what has ended, pauses, submissions, resumes,
what git no longer has.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace

from converter.errors import Refused
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import kept_by_hold
from converter.reconcile.prune import NO_CAMPAIGN, left_over
from converter.reconcile.slurm.array import PRUNE_WAS_STOPPED, array_of
from converter.reconcile.slurm.deciding import (
    check_prune,
    released_with_it,
    settled,
    settling,
    stopped_prunes,
    unwanted,
    window_in_words,
)
from converter.reconcile.slurm.ending import record_of, volumes_of
from converter.reconcile.slurm.pausing import pause, resume
from converter.reconcile.slurm.planning import Plan, plan
from converter.reconcile.slurm.run import Options, Run
from converter.reconcile.slurm.steps import Steps
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import SlurmRefused, SlurmUnavailable
from converter.slurm.host import Host
from converter.slurm.session import Session, locked
from converter.slurm.survey import survey
from converter.times import rfc3339


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
    run = Run(host, options, outcome, steps, found, dict(found.states))
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
    campaigns = {each.campaign for each in wanted}
    _undo_stopped_prunes(run, campaigns)
    _reset_times(run, campaigns)
    # What runs is paused before anything is started.
    new = {each.name for each in intended.submitted}
    pause(run, [*(each for each in intended.paused if each.name not in new), *intended.strays])
    _record(run, intended, {each.name: each for each in wanted})
    done = _submit_all(run, intended.submitted)
    going = _settle_all(run, intended)
    pause(run, [each for each in intended.paused if each.name in done])
    resume(run, [each for each in intended.resumed if each.name in done or each.name in going])
    _prune(run, intended)


def _undo_stopped_prunes(run: Run, campaigns: Set[str]) -> None:
    for name, campaign in stopped_prunes(campaigns, run.found):
        try:
            run.steps.revive(name)
        except SlurmRefused as error:
            run.note(Fate.REFUSED, name, f"{PRUNE_WAS_STOPPED}: {error}", campaign)
        else:
            run.note(Fate.CONFIGURED, name, f"{PRUNE_WAS_STOPPED}, and is undone", campaign)


def _reset_times(run: Run, campaigns: Set[str]) -> None:
    """How long a submission may be on its way counts from now where the clock was ahead then."""
    now = run.found.host_epoch
    for name, state in run.found.states.items():
        if state.campaign in campaigns and state.at > now and array_of(name, run.found).is_void:
            with suppress(SlurmRefused):
                run.steps.save(replace(state, at=now))


def _record(run: Run, intended: Plan, wanted: Mapping[str, Submission]) -> None:
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
        if array.cancelled:
            detail += f"; {PRUNE_WAS_STOPPED}"
        elif record.failed and not array.jobs:
            detail += "; Slurm has nothing of it any more"
        run.note(Fate.RECORDED, name, detail, array.state.campaign)


def _submit_all(run: Run, wanted: Iterable[Submission]) -> set[str]:
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


def _settle_all(run: Run, intended: Plan) -> set[str]:
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


def _throttle(run: Run, wanted: Submission, was: int) -> None:
    detail = window_in_words(was, wanted.window)
    try:
        run.states[wanted.name] = run.steps.throttle(run.states[wanted.name], wanted.window)
    except SlurmRefused as error:
        run.note(Fate.REFUSED, wanted.name, f"{detail}: {error}", wanted.campaign)
    else:
        run.note(Fate.CONFIGURED, wanted.name, detail, wanted.campaign)


def _prune(run: Run, intended: Plan) -> None:
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
