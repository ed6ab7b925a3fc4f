"""What an apply to a Slurm does about each array, one situation a row, and what it never does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from slurm.submissions import submission
from unit.slurm.arrays import (
    LETTERS,
    NOW,
    ended,
    gated,
    held,
    kept,
    over,
    record,
    seen,
    task,
)

from converter.reconcile.slurm import array, planning
from converter.reconcile.slurm.array import array_of
from converter.reconcile.slurm.planning import Plan, plan
from converter.reconcile.slurm.submission import Submission
from converter.slurm.comment import Comment, written
from converter.slurm.job import Job, Phase
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey

PAUSED = replace(LETTERS, suspended=True)
LONGER = submission(number=5)
LONGER_PAUSED = replace(LONGER, suspended=True)
OTHER_RECIPE = submission(inputs="other")
OTHER_PIPELINE = replace(LETTERS, pipeline="other")
WIDER = replace(LETTERS, window=4)
RENAMED = replace(LETTERS, name="letters-again", campaign="letters-again")
SHARES = replace(submission("maps"), volumes=("maps-0", "letters-2"))
ONE, TWO = (
    submission(f"atlas-part{part}", campaign="atlas", part=part, inputs=f"part {part}")
    for part in (1, 2)
)
WHOLE = submission("atlas", 8)
RECORDED = (over(),)
RUNS = (task(0), task(1), record(array_tasks="2-3"))
COMES_BACK = (task(0, "FAILED", end=NOW - 30), task(1, "COMPLETED", end=NOW - 30))
BEGUN = frozenset({"letters"})
KILLED = tuple(task(index, "TIMEOUT") for index in range(4))


@dataclass(frozen=True)
class Row:
    """`then` is what comes of it, `why` a part of the reason for which it is held back."""

    situation: str
    wanted: Sequence[Submission]
    found: Survey
    then: str
    why: str = ""


def submitting(seconds: int, wanted: Submission = LETTERS) -> State:
    return kept(wanted, Step.SUBMITTING, at=NOW - seconds)


ROWS = (
    # New.
    Row("new", [LETTERS], seen(), "letters: submitted, let run"),
    Row("new and paused", [PAUSED], seen(), "letters: submitted, paused"),
    Row(
        "new, and others are live",
        [LETTERS, submission("maps")],
        seen(kept(), jobs=RUNS),
        "letters: let run; maps: submitted, let run",
    ),
    Row(
        "new, and an array of its name was cancelled and forgotten",
        [LETTERS],
        seen(jobs=[record(number=77, state="CANCELLED", end=NOW - 600)]),
        "letters: submitted, let run",
    ),
    # Live.
    Row("live, unchanged", [LETTERS], seen(kept(), jobs=RUNS), "letters: let run"),
    Row(
        "live, its gate still shut",
        [LETTERS],
        seen(kept(step=Step.SUBMITTED), jobs=[gated()]),
        "letters: let run",
    ),
    Row("another window", [WIDER], seen(kept(), jobs=RUNS), "letters: let run"),
    Row("git pauses it", [PAUSED], seen(kept(), jobs=RUNS), "letters: paused"),
    Row("git has paused it", [PAUSED], seen(kept(PAUSED), jobs=[held(1)]), "letters: paused"),
    Row("git lets it run again", [LETTERS], seen(kept(PAUSED), jobs=[held(1)]), "letters: let run"),
    Row("on an operator's hold", [LETTERS], seen(kept(), jobs=[held(7)]), "letters: let run"),
    Row(
        "another list",
        [LONGER],
        seen(kept(), jobs=RUNS),
        "letters: held back",
        "its list of volumes differs from what was applied",
    ),
    Row(
        "another list, and paused all the same",
        [LONGER_PAUSED],
        seen(kept(), jobs=RUNS),
        "letters: held back, paused",
        "its list of volumes differs",
    ),
    Row(
        "another recipe",
        [OTHER_RECIPE],
        seen(kept(), jobs=RUNS),
        "letters: held back",
        "its pipeline, its size or the settings in converter.yaml changed",
    ),
    Row(
        "another pipeline",
        [OTHER_PIPELINE],
        seen(kept(), jobs=RUNS),
        "letters: held back",
        "its pipeline was work and is now other",
    ),
    # Its end.
    Row(
        "all tasks have written how they ended",
        [LETTERS],
        seen(
            kept(),
            jobs=[task(index, "COMPLETED", end=NOW) for index in range(4)],
            results={"letters": ended(0, 0, 13, 0)},
        ),
        "letters: recorded",
    ),
    Row(
        "ended, and forgotten by the controller, and no apply has seen it",
        [LETTERS],
        seen(kept(), results={"letters": ended(0, 0, 0, 0)}),
        "letters: recorded",
    ),
    Row(
        "ended without a word, ten minutes ago",
        [LETTERS],
        seen(kept(), jobs=KILLED),
        "letters: recorded",
    ),
    Row(
        "never let run, and Slurm has nothing of it",
        [LETTERS],
        seen(kept(step=Step.SUBMITTED)),
        "letters: submitted, let run",
    ),
    Row(
        "the same, and paused",
        [PAUSED],
        seen(kept(PAUSED, Step.SUBMITTED)),
        "letters: submitted, paused",
    ),
    Row(
        "the same, and a task of it has begun all the same",
        [LETTERS],
        seen(kept(step=Step.SUBMITTED), begun=BEGUN),
        "letters: recorded",
    ),
    Row(
        "let run, Slurm has nothing of it, and no task has begun",
        [LETTERS],
        seen(kept(), directory="/shared"),
        "letters: held back",
        "Slurm has no array 31 any more, and no task of it has begun",
    ),
    Row(
        "the same, and git pauses it",
        [PAUSED],
        seen(kept()),
        "letters: held back, paused",
        "no task of it has begun",
    ),
    Row(
        "the same, and a try of it has failed",
        [LETTERS],
        seen(kept(), failures={"letters": ended(1)}),
        "letters: recorded",
    ),
    Row(
        "cancelled, and Slurm remembers it",
        [LETTERS],
        seen(kept(), jobs=[record(state="CANCELLED", end=NOW - 600)]),
        "letters: recorded",
    ),
    Row(
        "its directory is not there, and Slurm has it",
        [LETTERS],
        seen(kept(), jobs=RUNS, homeless=BEGUN, directory="/shared"),
        "letters: held back",
        "put it back, or, to have it run anew, scancel 31 and delete /shared/state/",
    ),
    Row(
        "the same, and git pauses it",
        [PAUSED],
        seen(kept(PAUSED), jobs=RUNS, homeless=BEGUN, directory="/shared"),
        "letters: held back, paused",
        "is not there, so that no task can run",
    ),
    Row(
        "its directory is not there, and its tasks have ended",
        [LETTERS],
        seen(kept(), jobs=KILLED, homeless=BEGUN, directory="/shared"),
        "letters: held back",
        "nothing says what was done",
    ),
    Row(
        "it was pruned, and Slurm has forgotten that",
        [LETTERS],
        seen(jobs=[record()], homeless=BEGUN, directory="/shared"),
        "letters: held back",
        "to have it run anew, scancel 31, and apply again",
    ),
    Row(
        "never let run, Slurm has nothing of it, and its directory is not there",
        [LETTERS],
        seen(kept(step=Step.SUBMITTED), homeless=BEGUN, directory="/shared"),
        "letters: submitted, let run",
    ),
    Row(
        "ended, while git has another list",
        [LONGER],
        seen(kept(), begun=BEGUN),
        "letters: held back, recorded",
    ),
    Row(
        "a task has failed, and comes back in a moment",
        [LETTERS],
        seen(kept(), jobs=COMES_BACK, results={"letters": {1: ended(0)[0]}}),
        "letters: let run",
    ),
    Row(
        "the same while git pauses it",
        [PAUSED],
        seen(kept(PAUSED), jobs=COMES_BACK),
        "letters: paused",
    ),
    Row("completing", [LETTERS], seen(kept(), jobs=[task(0, "COMPLETING")]), "letters: let run"),
    Row(
        "in a state that nobody knows",
        [LETTERS],
        seen(kept(), jobs=[task(0, "BEWITCHED")]),
        "letters: let run",
    ),
    # Ended.
    Row("recorded", [LETTERS], seen(*RECORDED), "letters: finished"),
    Row("recorded, some failed", [LETTERS], seen(over(LETTERS, "letters-1")), "letters: finished"),
    Row("recorded, and paused in git", [PAUSED], seen(*RECORDED), "letters: finished"),
    Row(
        "recorded, and Slurm knows it still",
        [LETTERS],
        seen(*RECORDED, jobs=KILLED),
        "letters: finished",
    ),
    Row("recorded, another recipe since", [OTHER_RECIPE], seen(*RECORDED), "letters: finished"),
    Row(
        "recorded, another list since",
        [LONGER],
        seen(*RECORDED),
        "letters: held back",
        "it has ended (Finished) and its record is of another list of volumes",
    ),
    Row(
        "recorded, and somebody has had tasks queued again",
        [LETTERS],
        seen(*RECORDED, jobs=[task(0, "PENDING")]),
        "letters: held back",
        "somebody has had tasks of it queued again (array 31): cancel them with scancel 31",
    ),
    Row(
        "recorded, and tasks of it run again, and git pauses it",
        [PAUSED],
        seen(*RECORDED, jobs=[task(0)]),
        "letters: held back, paused",
        "somebody has had tasks of it queued again",
    ),
    Row(
        "recorded, and somebody has submitted it again",
        [LETTERS],
        seen(*RECORDED, jobs=[record(number=77)]),
        "letters: held back",
        "queued again (array 77)",
    ),
    # Its state is lost.
    Row(
        "its state is lost, and its results are there",
        [LETTERS],
        seen(results={"letters": ended(0)}),
        "letters: held back",
        "tasks of it have run, as its directory on the Slurm host says",
    ),
    Row(
        "its state is lost, and its directory says that it has ended",
        [LETTERS],
        seen(ended=frozenset({"letters"})),
        "letters: held back",
        "tasks of it have run",
    ),
    Row(
        "its state is lost, and Slurm remembers its end",
        [LETTERS],
        seen(jobs=KILLED, results={"letters": ended(0)}),
        "letters: held back",
        "tasks of it have run",
    ),
    Row("its state is lost while it is live", [LETTERS], seen(jobs=RUNS), "letters: let run"),
    Row(
        "its state cannot be read",
        [LETTERS],
        seen(unreadable=("maps.json",)),
        "letters: held back",
        "maps.json in ",
    ),
    Row(
        "its state cannot be read, it is live, and git pauses it",
        [PAUSED],
        seen(jobs=RUNS, unreadable=("maps.json",)),
        "letters: held back, paused",
        "cannot be read",
    ),
    Row(
        "the state of another cannot be read",
        [LETTERS],
        seen(kept(), jobs=RUNS, unreadable=("maps.json",)),
        "letters: let run",
    ),
    Row(
        "an array of its name is of other work",
        [LETTERS],
        seen(jobs=[record(OTHER_RECIPE)]),
        "letters: held back",
        "Slurm has an array of its name (31) of other work",
    ),
    Row(
        "an array of its name is ending, as after a prune",
        [LETTERS],
        seen(jobs=[task(0, "COMPLETING", OTHER_RECIPE)]),
        "letters: held back",
        "an array of its name (31) is ending: apply again in a moment",
    ),
    # An apply was killed.
    Row(
        "submitted, and its number was not kept",
        [LETTERS],
        seen(submitting(5), jobs=[gated()]),
        "letters: let run",
    ),
    Row(
        "submitted, its number was not kept, and git pauses it",
        [PAUSED],
        seen(submitting(5, PAUSED), jobs=[gated(PAUSED)]),
        "letters: paused",
    ),
    Row(
        "the same, and git has another list since",
        [LONGER],
        seen(submitting(5), jobs=[gated()]),
        "letters: held back",
        "its list of volumes differs",
    ),
    Row(
        "killed while it submitted, just now",
        [LETTERS],
        seen(submitting(0)),
        "letters: held back",
        "which may still be on its way: apply again in 120 s",
    ),
    Row(
        "killed while it submitted, when the clock was a day ahead",
        [LETTERS],
        seen(submitting(-86400)),
        "letters: held back",
        "which may still be on its way: apply again in 120 s",
    ),
    Row(
        "killed while it submitted, a second too early",
        [LETTERS],
        seen(submitting(119)),
        "letters: held back",
        "apply again in 1 s",
    ),
    Row(
        "killed while it submitted, and nothing came of it",
        [LETTERS],
        seen(submitting(120)),
        "letters: submitted, let run",
    ),
    Row(
        "nothing came of it, and git has another list and recipe since",
        [replace(LONGER, inputs_sha256=OTHER_RECIPE.inputs_sha256)],
        seen(submitting(120)),
        "letters: submitted, let run",
    ),
    Row(
        "it came, and somebody has cancelled it",
        [LETTERS],
        seen(submitting(120), jobs=[gated(state="CANCELLED", end=NOW - 60)]),
        "letters: submitted, let run",
    ),
    Row(
        "it came, was let run by hand and is gone",
        [LETTERS],
        seen(submitting(120), results={"letters": ended(0, 0)}),
        "letters: held back",
        "it was submitted and is gone, and tasks of it have run",
    ),
    # More than one.
    Row(
        "submitted twice",
        [LETTERS],
        seen(kept(), jobs=[record(), gated(number=77)]),
        "letters: held back",
        "Slurm has it as the arrays 31 and 77",
    ),
    Row(
        "submitted twice, and no number is kept",
        [LETTERS],
        seen(submitting(5), jobs=[gated(), gated(number=77)]),
        "letters: held back",
        "Slurm has it as the arrays 31 and 77",
    ),
    Row(
        "submitted twice, and git pauses both",
        [PAUSED],
        seen(kept(), jobs=[record(), record(number=77)]),
        "letters: held back, paused",
        "31 and 77",
    ),
    Row(
        "another array has its name, and its own is forgotten",
        [LETTERS],
        seen(kept(), jobs=[record(number=77)]),
        "letters: held back",
        "it was submitted as array 31, and Slurm has 77 under its name",
    ),
    # Parts.
    Row(
        "two parts",
        [ONE, TWO],
        seen(),
        "atlas-part1: submitted, let run; atlas-part2: submitted, let run",
    ),
    Row(
        "one part has ended, and the other was not submitted",
        [ONE, TWO],
        seen(over(ONE)),
        "atlas-part2: submitted, let run",
    ),
    Row("both parts have ended", [ONE, TWO], seen(over(ONE), over(TWO)), "atlas: finished"),
    Row(
        "one part is on hold, and the other would be new",
        [ONE, TWO],
        seen(kept(ONE), jobs=[held(7, ONE)]),
        "atlas: held back",
        "atlas-part2 would be submitted while hold 7 is in force",
    ),
    Row(
        "cut into other parts, of which one is live",
        [WHOLE],
        seen(kept(ONE), kept(TWO, job=32), jobs=[record(ONE)], begun={"atlas-part2"}),
        "atlas: held back; atlas-part2: recorded",
        "its list of volumes differs from what was applied as atlas-part1, atlas-part2",
    ),
    Row(
        "cut into other parts, and git pauses it",
        [replace(WHOLE, suspended=True)],
        seen(kept(ONE), kept(TWO, job=32), jobs=[record(ONE)], begun={"atlas-part2"}),
        "atlas: held back; atlas-part1: paused as it was; atlas-part2: recorded",
        "its list of volumes differs from what was applied as atlas-part1, atlas-part2",
    ),
    Row(
        "cut into more parts, and git pauses it",
        [replace(ONE, suspended=True), replace(TWO, suspended=True)],
        seen(kept(WHOLE), jobs=[record(WHOLE)]),
        "atlas: held back, paused as it was",
        "its list of volumes differs from what was applied as atlas",
    ),
    Row(
        "the same, one part is there, and nothing is kept of the other array",
        [replace(ONE, suspended=True), replace(TWO, suspended=True)],
        seen(kept(ONE), jobs=[record(ONE), record(WHOLE)]),
        "atlas: held back, paused as it was; atlas-part1: paused",
        "its list of volumes differs from what was applied as atlas",
    ),
    # The same volumes.
    Row(
        "under another name its tasks are ending, after a prune",
        [RENAMED],
        seen(jobs=[task(1, "COMPLETING")]),
        "letters-again: held back",
        "its volumes are those of letters (array 31), which was cancelled and whose tasks are end",
    ),
    Row(
        "other work is ending, after a prune",
        [submission("maps", inputs="maps")],
        seen(jobs=[task(1, "COMPLETING")]),
        "maps: submitted, let run",
    ),
    Row(
        "a volume is in a campaign that is live",
        [LETTERS, SHARES],
        seen(kept(), jobs=RUNS),
        "letters: let run; maps: held back",
        "volume letters-2 is in campaign letters too",
    ),
    Row(
        "a volume is in another new campaign",
        [LETTERS, SHARES],
        seen(),
        "letters: submitted, let run; maps: held back",
        "volume letters-2 is in campaign letters too",
    ),
    Row(
        "a volume is in a campaign that has ended",
        [LETTERS, SHARES],
        seen(*RECORDED),
        "letters: finished; maps: submitted, let run",
    ),
    Row(
        "a volume is in a campaign of another pipeline",
        [LETTERS, replace(SHARES, pipeline="other")],
        seen(kept(), jobs=RUNS),
        "letters: let run; maps: submitted, let run",
    ),
    Row(
        "a campaign that may be on its way gives way to what is live",
        [SHARES, LETTERS],
        seen(kept(SHARES, Step.SUBMITTING, at=NOW - 600), kept(), jobs=RUNS),
        "letters: let run; maps: held back",
        "volume letters-2 is in campaign letters too",
    ),
    Row(
        "a live campaign under another name",
        [RENAMED],
        seen(kept(), jobs=RUNS),
        "letters: not in git; letters-again: held back",
        "its volumes are those of campaign letters of the same pipeline, which git has no more",
    ),
    Row(
        "a campaign that has ended, under another name",
        [RENAMED],
        seen(*RECORDED),
        "letters: not in git; letters-again: submitted, let run",
    ),
    # Not looked for where it is.
    Row(
        "its cluster is another one, which knows nothing of it",
        [LETTERS],
        seen(kept(cluster="hpc"), cluster="lab"),
        "letters: held back",
        "array 31 was submitted to the cluster hpc, and this is lab: put `slurm.host` back",
    ),
    Row(
        "its cluster is another one, and all of its tasks have said how they ended",
        [LETTERS],
        seen(kept(cluster="hpc"), results={"letters": ended(0, 0, 0, 0)}, cluster="lab"),
        "letters: recorded",
    ),
    Row(
        "it was about to be submitted to another cluster",
        [LETTERS],
        seen(kept(step=Step.SUBMITTING, at=NOW - 600, cluster="hpc"), cluster="lab"),
        "letters: held back",
        "it was submitted to the cluster hpc",
    ),
    Row(
        "its cluster is another one, and git pauses it",
        [PAUSED],
        seen(kept(PAUSED, cluster="hpc"), cluster="lab"),
        "letters: held back, paused",
        "put `slurm.host` back",
    ),
    Row(
        "its cluster is the same one, and has forgotten it",
        [LETTERS],
        seen(kept(cluster="hpc", user="anna"), cluster="hpc", user="bob", begun=BEGUN),
        "letters: recorded",
    ),
    Row(
        "who submitted it is another one, whose jobs are not shown",
        [LETTERS],
        seen(kept(user="anna"), user="bob", is_private=True),
        "letters: held back",
        "array 31 was submitted by anna, and this Slurm shows bob no jobs of others",
    ),
    Row(
        "who submitted it is another one, and it is shown all the same",
        [LETTERS],
        seen(kept(user="anna"), jobs=RUNS, user="bob", is_private=True),
        "letters: let run",
    ),
    Row(
        "who submitted it asks, and it is forgotten",
        [LETTERS],
        seen(kept(user="anna"), user="anna", is_private=True, begun=BEGUN),
        "letters: recorded",
    ),
    Row(
        "it ended long ago, on another cluster",
        [LETTERS],
        seen(over(LETTERS, cluster="hpc"), cluster="lab"),
        "letters: finished",
    ),
    Row(
        "it is live, and the directory is another one",
        [LETTERS],
        seen(
            jobs=[record(script="/old/campaigns/team-1/letters/task.sh /old/campaigns/x")],
            directory="/new",
        ),
        "letters: held back",
        "array 31 was submitted from /old/campaigns/team-1/letters: put `slurm.directory` back",
    ),
    Row(
        "it is live, and the directory is the same one",
        [LETTERS],
        seen(
            kept(),
            jobs=[record(script="/new/campaigns/team-1/letters/task.sh")],
            directory="/new",
        ),
        "letters: let run",
    ),
    Row(
        "it has ended under another name of the repository",
        [LETTERS],
        seen(elsewhere=[over(repository="old-name")]),
        "letters: held back",
        "it was applied there for the repository old-name (Finished): if that is this one, write "
        "`repository: old-name` into converter.yaml",
    ),
    Row(
        "it is live under another name of the repository",
        [LETTERS],
        seen(elsewhere=[kept(repository="old-name")]),
        "letters: held back",
        "for the repository old-name (not ended, as far as is kept)",
    ),
    Row(
        "another repository has a campaign of its name",
        [LETTERS],
        seen(
            elsewhere=[kept(LONGER, repository="other"), kept(OTHER_PIPELINE, repository="other")]
        ),
        "letters: submitted, let run",
    ),
    # Not in git.
    Row("left git, and is live", [], seen(kept(), jobs=RUNS), "letters: not in git"),
    Row("left git, and is on hold", [], seen(kept(), jobs=[held(7)]), "letters: not in git"),
    Row("left git, and nothing is kept of it", [], seen(jobs=[gated()]), "letters: not in git"),
    Row("left git, and has ended", [], seen(*RECORDED), "letters: not in git"),
    Row(
        "left git, and its end was seen by nobody",
        [],
        seen(kept(), begun=BEGUN),
        "letters: recorded, not in git",
    ),
)


def words(found: Plan) -> str:
    """A plan, name by name."""
    kinds: Mapping[str, set[str]] = {
        "held back": set(found.held_back),
        "submitted": {each.name for each in found.submitted},
        "recorded": set(found.ended),
        "finished": set(found.finished),
        "paused": {each.name for each in found.paused},
        "let run": {each.name for each in found.resumed},
        "paused as it was": {each.name for each in found.strays},
        "not in git": set(found.unwanted),
    }
    return "; ".join(
        f"{name}: {', '.join(kind for kind, names in kinds.items() if name in names)}"
        for name in sorted(set().union(*kinds.values()))
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.situation)
def test_what_is_done(row: Row) -> None:
    found = plan(row.wanted, row.found)
    assert words(found) == row.then
    assert row.why in "; ".join(found.held_back.values())


@pytest.mark.parametrize(
    ("jobs", "instance"),
    [([held(7)], 7), ([held(1)], None), ([record()], None), ([held(7), held(9)], 9)],
    ids=["an operator's", "git's own", "none", "the newer of two"],
)
def test_which_hold_a_prune_finds(jobs: Sequence[Job], instance: int | None) -> None:
    found = seen(kept(), jobs=jobs)
    assert plan([], found).unwanted == ("letters",)
    mark = array_of("letters", found).hold
    assert (mark.instance if mark is not None else None) == instance


STATES: Mapping[str, State | None] = {
    "none": None,
    "submitting": submitting(5),
    "submitting long ago": submitting(600),
    "submitted": kept(step=Step.SUBMITTED),
    "opened": kept(),
    "paused": kept(PAUSED),
    "ended": over(),
    "ended with failures": over(LETTERS, "letters-1"),
}
JOBS: Mapping[str, Sequence[Job]] = {
    "none": (),
    "gated": (gated(),),
    "waiting": (record(),),
    "running": RUNS,
    "completing": (task(0, "COMPLETING"),),
    "unknown": (task(0, "BEWITCHED"),),
    "over": KILLED,
    "over just now": COMES_BACK,
    "twice": (record(), record(number=77)),
    "other number": (record(number=77),),
    "other work": (record(OTHER_RECIPE, comment=written(Comment("letters", digest="x"))),),
}
RESULTS: Mapping[str, Mapping[int, Result]] = {
    "none": {},
    "some": ended(0, 13),
    "all": ended(0, 0, 0, 0),
}
WANTED: Sequence[Submission] = (LETTERS, PAUSED, LONGER, LONGER_PAUSED, OTHER_RECIPE, WIDER)


UNREADABLE: Sequence[Sequence[str]] = ((), ("maps.json",))


def everything() -> Iterator[tuple[Submission, Survey]]:
    cells = itertools.product(WANTED, STATES.values(), JOBS.values(), RESULTS.values(), UNREADABLE)
    for wanted, state, jobs, results, unreadable in cells:
        states = (state,) if state is not None else ()
        yield wanted, seen(*states, jobs=jobs, results={"letters": results}, unreadable=unreadable)


def test_in_no_situation_is_anything_run_again_or_twice_or_left_unpaused() -> None:
    submitted = 0
    for wanted, found in everything():
        array, done = array_of("letters", found), plan([wanted], found)
        lives = [job for job in array.jobs if job.phase is not Phase.ENDED]
        there = f"{wanted} {found}"
        if done.submitted:
            submitted += 1
            assert not lives, there
            assert not array.has_ended, there
            assert not array.results, there
            assert not done.held_back, there
            assert not (found.unreadable and array.state is None), there
        assert not (done.held_back and done.resumed), there
        assert not (done.finished and lives), there
        assert not (done.ended and lives), there
        if wanted.suspended:
            assert not done.resumed, there
            assert done.paused or not lives, there
    assert submitted


def test_a_campaign_more_costs_no_more_than_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    real = array.campaign_of

    def counted(one: array.Array) -> str:
        nonlocal looked
        looked += 1
        return real(one)

    for module in (array, planning):
        monkeypatch.setattr(module, "campaign_of", counted)
    wanted = [submission(f"c{number}") for number in range(200)]
    plan(wanted, seen(*(kept(each) for each in wanted)))
    assert 0 < looked <= 3 * len(wanted)
