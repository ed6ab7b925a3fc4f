"""One look at everything: what counts as ours, and what must not be taken for nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from slurm.submissions import REPOSITORY
from unit.slurm.arrays import LETTERS, NOW, NUMBER, kept, over
from unit.slurm.records import answer, as_22_05

from converter.reconcile.slurm.array import array_of
from converter.slurm.comment import Comment, written
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import Answer, Host
from converter.slurm.layout import repository_key
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey, survey

OURS = LETTERS.comment("c0ffee")
THEIRS = written(Comment("letters", digest=LETTERS.digest, repository=repository_key("other")))
BAD = ("letters.json",)
HELD_ALONE = written(Comment())
SLURM = "anna\nClusterName             = hpc\nPrivateData             = none\n"
UP_TO_STATE = f"{NOW}\n==slurm==\n{SLURM}"


@dataclass(frozen=True)
class Told(Host):
    """A host that gives this answer."""

    out: str = ""
    code: int = 0
    err: str = ""

    anyway: str = ""

    def run(self, script: str, *arguments: str, seconds: float, data: bytes = b"") -> Answer:
        assert (script, arguments) == ("survey.sh", ("/shared", repository_key(REPOSITORY)))
        return Answer(self.code, self.anyway if data == b"letters\n" else self.out, self.err)


def text(
    *states: State | str,
    jobs: Sequence[dict[str, Any]] = (),
    written: str = "",
    now: str = str(NOW),
    slurm: str = SLURM,
    elsewhere: Sequence[State | str] = (),
) -> str:
    return (
        f"{now}\n==slurm==\n{slurm}==state==\n{files(states)}==elsewhere==\n{lines(elsewhere)}"
        f"==squeue==\n{answer(*jobs)}\n==results==\n{written}"
    )


def lines(states: Sequence[State | str]) -> str:
    return "".join(each if isinstance(each, str) else each.to_json() for each in states)


def files(states: Sequence[State | str]) -> str:
    """One file each; what is a text is the lines of that of letters."""
    found = [
        ("letters", each) if isinstance(each, str) else (each.name, each.to_json())
        for each in states
    ]
    return "".join(f"./{name}.json:{line}\n" for name, text in found for line in _lines(text))


def _lines(text: str) -> list[str]:
    return text.split("\n")[:-1]


def look(out: str) -> Survey:
    return survey(Told(out=out), "/shared", REPOSITORY, seconds=10)


def of_squeue(**others: Any) -> dict[str, Any]:
    """The tasks of an array that wait."""
    array = {"job_id": NUMBER, "array_job_id": NUMBER, "array_task_string": "0-3", "priority": 9}
    return as_22_05(**{**array, "comment": OURS, **others})


@pytest.mark.parametrize(
    ("state", "job", "array"),
    [
        (kept(), of_squeue(), "letters"),
        (None, of_squeue(), "letters"),
        (None, of_squeue(comment=THEIRS), ""),
        (kept(), of_squeue(comment=THEIRS), ""),
        (None, of_squeue(comment="a note of somebody"), ""),
        (kept(), of_squeue(comment="a note of somebody"), "letters"),
        (kept(), of_squeue(comment=""), "letters"),
        (kept(), of_squeue(comment="", name="maps"), ""),
        (kept(), of_squeue(comment="", job_id=77, array_job_id=77), ""),
        (kept(), of_squeue(comment="", job_id=131, array_task_id=2), "letters"),
        (kept(), of_squeue(comment=HELD_ALONE), ""),
        (kept(), of_squeue(name="maps"), "letters"),
        (None, of_squeue(name="maps"), "maps"),
        (over(), of_squeue(comment=""), ""),
        (kept(step=Step.SUBMITTING), of_squeue(comment="", job_id=0, array_job_id=0), ""),
    ],
    ids=[
        "by its comment",
        "by its comment, and nothing is kept",
        "of another repository",
        "of another repository, with the number that is kept",
        "of somebody",
        "somebody wrote its comment: by its number and name",
        "somebody emptied its comment: by its number and name",
        "by its number alone: no",
        "by its name alone: no",
        "a task of it, by its number and name",
        "a comment of ours that names no campaign: no",
        "somebody gave it another name: by its comment and number",
        "the same, and nothing is kept: under that name",
        "one that has ended: its number may be another job's by now",
        "one whose number is not known: no",
    ],
)
def test_whose_an_array_is(state: State | None, job: dict[str, Any], array: str) -> None:
    found = look(text(*((state,) if state is not None else ()), jobs=[job]))
    assert [name for name, jobs in found.jobs.items() if jobs] == ([array] if array else [])
    assert [each.job_id for each in found.others] == ([] if array else [job["job_id"]])


def test_a_number_that_slurm_gives_again_is_another_arrays() -> None:
    """It had lost the array that had it: the other is not let run, or cancelled, for that one."""
    atlas, maps = (replace(kept(), name=name, campaign=name) for name in ("atlas", "maps"))
    comment = written(Comment("maps", digest="x", repository=repository_key(REPOSITORY)))
    job = of_squeue(comment=comment, name="maps")
    for states in ((maps, atlas), (atlas, maps), (atlas,)):
        assert list(look(text(*states, jobs=[job])).jobs) == ["maps"]
    renamed = look(text(atlas, maps, jobs=[of_squeue(comment=comment, name="atlas")]))
    assert list(renamed.jobs) == ["maps"]
    relabelled = look(text(atlas, maps, jobs=[of_squeue(comment="checked", name="maps")]))
    assert list(relabelled.jobs) == ["maps"]


def test_an_array_whose_comment_somebody_wrote_has_not_gone() -> None:
    """It would be recorded as failed while it runs, and never be paused."""
    found = look(text(kept(), jobs=[of_squeue(comment="checked by anna", job_state="RUNNING")]))
    assert not array_of("letters", found).has_gone


@pytest.mark.parametrize(
    ("line", "states", "unreadable"),
    [
        (kept(), ["letters"], ()),
        ("\n", [], BAD),
        ("{}\n", [], BAD),
        (kept().to_json().strip() + kept().to_json(), [], BAD),
        (kept().to_json()[:50] + "\n", [], BAD),
        (kept().to_json().replace(REPOSITORY, "another"), [], ()),
    ],
    ids=["whole", "empty", "no state", "two in a line", "cut", "of another repository"],
)
def test_what_is_kept(line: State | str, states: list[str], unreadable: tuple[str, ...]) -> None:
    found = look(text(line))
    assert (list(found.states), found.unreadable) == (states, unreadable)


@pytest.mark.parametrize(
    "other",
    ["", "cut", over().to_json()[:90], "[" * 100_000],
    ids=["empty", "short", "cut", "deep"],
)
def test_one_file_that_cannot_be_read_spoils_no_other(other: str) -> None:
    maps = replace(kept(), name="maps", campaign="maps")
    found = look(text(f"{other}\n", maps))
    assert (list(found.states), found.unreadable) == (["maps"], BAD)


def test_a_copy_of_a_state_under_another_name_is_none() -> None:
    out = text(over()).replace(
        "==elsewhere==", f"./letters-old.json:{kept().to_json()}==elsewhere=="
    )
    found = look(out)
    assert (found.states, found.unreadable) == ({"letters": over()}, ())


@pytest.mark.parametrize(
    ("state", "jobs", "read"),
    [
        (over(), (), False),
        (over(), (of_squeue(),), False),
        (kept(), (), True),
        (kept(step=Step.SUBMITTING), (), True),
        (None, (of_squeue(),), True),
        (None, (), False),
    ],
    ids=[
        "its end is kept",
        "the same, and it is queued again",
        "an older state",
        "a much older state",
        "no state, and it is queued again",
        "no state",
    ],
)
def test_results_are_read_unless_the_end_is_kept(
    state: State | None, jobs: Sequence[dict[str, Any]], read: bool
) -> None:
    """The directory says that it has ended, and what is kept may have been put back from before."""
    states = (state,) if state is not None else ()
    ended = "letters/ended\n"
    anyway = f"{ended}letters/results/0:0 1 2026-12-01T14:19:37Z\n"
    told = Told(
        out=text(*states, jobs=jobs, written=ended),
        anyway=text(*states, jobs=jobs, written=anyway),
    )
    found = survey(told, "/shared", REPOSITORY, seconds=10)
    assert (list(found.results) == ["letters"]) is read
    assert found.ended == {"letters"}


def test_the_marks_of_a_directory() -> None:
    written = "letters/paused\nmaps/cancelled\nmaps/begun\natlas/ended\natlas/other\n"
    found = look(text(kept(), written=written))
    assert (found.marked, found.cancelled) == ({"letters"}, {"maps"})
    assert (found.begun, found.ended) == ({"maps"}, {"atlas"})


def test_what_tasks_have_written() -> None:
    lines = (
        "letters/results/0:0 1 2026-12-01T14:19:37Z",
        "letters/results/3:13 2 2026-12-01T14:19:38Z",
        "letters/results/4:",
        "letters/results/.5.131.77:0 1 2026-12-01T14:19:37Z",
        "maps/ended",
    )
    found = look(text(written="\n".join(lines)))
    assert found.results == {
        "letters": {
            0: Result(0, 1, "2026-12-01T14:19:37Z"),
            3: Result(13, 2, "2026-12-01T14:19:38Z"),
        }
    }
    assert found.ended == {"maps"}


@pytest.mark.parametrize(
    "told",
    [
        Told(out=""),
        Told(out=f"{NOW}\n==slurm==\nanna\n", code=1, err="scontrol: error: no route"),
        Told(out=f"{UP_TO_STATE}==state==\n", code=1, err="cat: letters.json: Permission denied"),
        Told(
            out=f"{UP_TO_STATE}==state==\n==elsewhere==\n==squeue==\n",
            code=1,
            err="squeue: error: no route",
        ),
        Told(out=text(now="soon")),
        Told(out=text(slurm="anna\nPrivateData = none\n")),
        Told(
            out=f"{UP_TO_STATE}==state==\n==elsewhere==\n==squeue==\n"
            f"{json.dumps({'jobs': [], 'errors': [{}]})}\n==results==\n"
        ),
    ],
    ids=[
        "nothing",
        "no config",
        "no state",
        "no squeue",
        "no clock",
        "no cluster",
        "the controller is away",
    ],
)
def test_what_could_not_be_read_is_never_nothing(told: Told) -> None:
    with pytest.raises(SlurmUnavailable):
        survey(told, "/shared", REPOSITORY, seconds=10)


@pytest.mark.parametrize(
    ("private", "hides"),
    [
        ("none", False),
        ("jobs", True),
        ("accounts,jobs,usage", True),
        ("all", True),
        ("nodes", False),
    ],
)
def test_who_asks_which_slurm(private: str, hides: bool) -> None:
    asked = f"anna\nConfiguration data\nClusterName = hpc\nPrivateData = {private}\nMOTD = a = b\n"
    found = look(text(slurm=asked))
    assert (found.user, found.cluster, found.is_private) == ("anna", "hpc", hides)


def test_what_was_applied_for_other_repositories_is_read_as_far_as_it_can_be() -> None:
    other = kept(repository="other")
    found = look(text(kept(), elsewhere=[other, "{}\n", "half\n"]))
    assert found.elsewhere == (other,)
    assert list(found.states) == ["letters"]
    assert found.unreadable == ()


def test_of_failed_tries_the_last_of_each_volume_counts() -> None:
    written = (
        "letters/results/0:0 2 2026-12-01T15:10:00Z\n"
        "letters/failures/0.1:1 1 2026-12-01T15:00:00Z\n"
        "letters/failures/3.2:137 2 2026-12-01T15:05:00Z\n"
        "letters/failures/3.1:1 1 2026-12-01T15:00:00Z\n"
        "letters/failures/4.x:1 1 2026-12-01T15:00:00Z\n"
        "letters/failures/5.1:killed\n"
    )
    found = look(text(kept(), written=written))
    assert found.failures == {
        "letters": {
            0: Result(1, 1, "2026-12-01T15:00:00Z"),
            3: Result(137, 2, "2026-12-01T15:05:00Z"),
        }
    }
    assert array_of("letters", found).tried_again == (3,)
