"""What an apply would change on a Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from unit.slurm.surveys import NUMBER, gated, state, survey_of, task, waiting, wanted

from converter.diff.change import Change, Comparison
from converter.diff.slurm import compare
from converter.reconcile.slurm.submission import Submission
from converter.slurm.job import Job
from converter.slurm.state import State, Step
from converter.slurm.survey import Survey

LETTERS = wanted()
PAUSED = replace(LETTERS, suspended=True)
UNDER_GIT = waiting(LETTERS, hold=1)
HELD = waiting(LETTERS, hold=7)
HELD_TASK = waiting(LETTERS, hold=7, job_id=NUMBER + 9, array_tasks="", array_task_id=3)
HOLD = "hold 7 is in force (of ops: a lost node)"
LIFTED = "`campaigns release letters --instance 7 --deadline 30s` lifts it"


def told(found: Comparison) -> list[str]:
    return [str(change) for change in found.changes]


def diff(*wants: Submission, found: Survey, prune: bool = False) -> Comparison:
    return compare(wants, found, prune=prune)


RESUME = "resume: Array/letters: what waits may start"
REVIVED = (
    "change: Array/letters: a prune of it was stopped, and its tasks end without having run: that "
    "is undone"
)
OPENED = "resume: Array/letters: its gate was shut and is opened: what waits may start"
WINDOW = "change: Array/letters: window 2 -> 3"
CASES: Sequence[tuple[Submission, State | None, list[Job], list[str]]] = [
    # As it is.
    (LETTERS, state(LETTERS), [waiting(LETTERS)], []),
    (LETTERS, state(LETTERS), [task(LETTERS, 0), waiting(LETTERS)], []),
    (PAUSED, state(PAUSED), [UNDER_GIT], []),
    (PAUSED, state(PAUSED), [task(LETTERS, 0), UNDER_GIT], []),
    # An operator's hold does for a pause.
    (PAUSED, state(PAUSED), [waiting(PAUSED, hold=7)], []),
    # Of which nothing says that git pauses it, so that the release would let it run.
    (PAUSED, state(PAUSED), [HELD], ["pause: Array/letters: what waits does not start"]),
    # Paused and resumed.
    (
        PAUSED,
        state(LETTERS),
        [task(LETTERS, 0), task(LETTERS, 1), waiting(LETTERS)],
        ["pause: Array/letters: what waits does not start; 2 task(s) run to their end"],
    ),
    (PAUSED, state(PAUSED), [gated(LETTERS)], ["pause: Array/letters: what waits does not start"]),
    (LETTERS, state(PAUSED), [UNDER_GIT], [RESUME]),
    (
        LETTERS,
        state(PAUSED),
        [HELD],
        [f"change: Array/letters: git's pause is lifted, and it stays stopped: {HOLD}; {LIFTED}"],
    ),
    # Some are held, and others start.
    (
        LETTERS,
        state(PAUSED),
        [task(LETTERS, 0), HELD_TASK, UNDER_GIT],
        [f"{RESUME}, but for what stays stopped: {HOLD}; {LIFTED}"],
    ),
    # What a pause or an apply that was stopped has left.
    (LETTERS, state(LETTERS), [UNDER_GIT], [RESUME]),
    (LETTERS, state(LETTERS), [gated(LETTERS)], [OPENED]),
    (
        LETTERS,
        state(LETTERS),
        [replace(HELD, reason="JobHeldUser", priority=0)],
        [
            "change: Array/letters: its gate was shut and is opened, and it stays stopped: "
            f"{HOLD}; {LIFTED}"
        ],
    ),
    (LETTERS, state(LETTERS, Step.SUBMITTED), [gated(LETTERS)], [OPENED]),
    (LETTERS, state(LETTERS, Step.SUBMITTED), [waiting(LETTERS)], []),
    (
        LETTERS,
        state(LETTERS, Step.SUBMITTING),
        [gated(LETTERS)],
        [f"change: Array/letters: job {NUMBER} is there, and its number is to be kept", OPENED],
    ),
    (
        LETTERS,
        None,
        [gated(LETTERS)],
        [f"change: Array/letters: job {NUMBER} is there, and its number is to be kept", OPENED],
    ),
    # A gate that an operator has shut is not opened.
    (LETTERS, state(LETTERS), [replace(gated(LETTERS), reason="JobHeldAdmin")], []),
    # On hold.
    (
        LETTERS,
        state(LETTERS),
        [HELD],
        [f"note: Array/letters: stays stopped: {HOLD}; {LIFTED}"],
    ),
    # Windows, also beside others.
    (replace(LETTERS, window=3), state(LETTERS), [waiting(LETTERS)], [WINDOW]),
    (replace(PAUSED, window=3), state(PAUSED), [UNDER_GIT], [WINDOW]),
    (replace(LETTERS, window=3), state(PAUSED), [UNDER_GIT], [WINDOW, RESUME]),
    # Ended, recorded or not.
    (LETTERS, state(LETTERS, Step.ENDED), [], ["finished: campaign letters"]),
    (LETTERS, state(LETTERS), [task(LETTERS, 0, "FAILED")], ["finished: campaign letters"]),
    (replace(LETTERS, window=3), state(LETTERS, Step.ENDED), [], ["finished: campaign letters"]),
]


@pytest.mark.parametrize(("part", "kept", "jobs", "lines"), CASES)
def test_one_array(part: Submission, kept: State | None, jobs: list[Job], lines: list[str]) -> None:
    found = diff(part, found=survey_of([kept] if kept else (), jobs))
    assert told(found) == lines
    differs = any(not line.startswith(("note", "finished")) for line in lines)
    assert found.exit_code == (2 if differs else 0)


def test_a_prune_that_was_stopped() -> None:
    """The file is back, and the tasks of the array would end at once."""
    for jobs, lines in (([waiting(LETTERS)], [REVIVED]), ([task(LETTERS, 0, "COMPLETING")], [])):
        found = survey_of([state(LETTERS)], jobs, cancelled={"letters"})
        assert told(diff(LETTERS, found=found)) == lines
    found = survey_of([state(LETTERS)], [waiting(LETTERS)], cancelled={"letters"})
    assert REVIVED not in told(diff(found=found))


def test_what_git_pauses_is_paused_also_as_other_parts() -> None:
    parts = [
        wanted(f"atlas-part{part}", campaign="atlas", part=part, suspended=True) for part in (1, 2)
    ]
    whole = wanted("atlas", 8)
    found = survey_of([state(whole)], [waiting(whole)])
    first, second = told(diff(*parts, found=found))
    assert first.startswith("held back: campaign atlas: its list of volumes differs")
    assert second == "pause: Array/atlas: what waits does not start"


def test_a_new_campaign_is_shown_whole() -> None:
    (change,) = diff(LETTERS, found=survey_of()).changes
    assert str(change) == "create: Array/letters"
    assert change.campaign == "letters"
    assert change.diff == (
        "--- /dev/null",
        "+++ git/Array/letters/sbatch",
        "@@ -0,0 +1,7 @@",
        "+--hold",
        "+--parsable",
        "+--job-name=letters",
        "+--array=0-3%2",
        "+--requeue",
        "+--output=/dev/null",
        "+--chdir=/shared/letters",
        "--- /dev/null",
        "+++ git/Array/letters/volumes.txt",
        "@@ -0,0 +1,4 @@",
        *(f"+letters-{index}\tsource of letters-{index}" for index in range(4)),
        "--- /dev/null",
        "+++ git/Array/letters/environment",
        "@@ -0,0 +1,1 @@",
        "+LANG=C",
    )


def test_a_terminal_acts_on_nothing_in_it() -> None:
    odd = replace(LETTERS, files={"volumes.txt": "a\tx\x1b[31m\x0cy\u2028z\n", "sbatch": ""})
    (change,) = diff(odd, found=survey_of()).changes
    assert change.diff[-1] == "+a\tx\\x1b[31m\\x0cy\\u2028z"
    assert change.diff[-2] == "@@ -0,0 +1,1 @@"


def test_a_new_campaign_that_is_paused() -> None:
    found = diff(PAUSED, found=survey_of())
    assert told(found) == [
        "create: Array/letters",
        "pause: Array/letters: it is submitted paused, and no task of it starts",
    ]


def test_a_window_is_one_argument_of_sbatch() -> None:
    found = survey_of([state(LETTERS)], [waiting(LETTERS)])
    (change,) = diff(wanted(window=13), found=found).changes
    assert str(change) == "change: Array/letters: window 2 -> 13"
    assert change.diff[:2] == ("--- live/Array/letters/sbatch", "+++ git/Array/letters/sbatch")
    assert [line for line in change.diff[3:] if line[0] != " "] == [
        "---array=0-3%2",
        "+--array=0-3%13",
    ]


def test_what_may_not_change_is_held_back() -> None:
    found = survey_of([state(LETTERS)], [waiting(LETTERS)])
    (line,) = told(diff(wanted(number=5), found=found))
    assert line.startswith("held back: campaign letters: its list of volumes differs")
    # A pause is carried out all the same.
    both = told(diff(wanted(number=5, suspended=True), found=found))
    assert [line.partition(":")[0] for line in both] == ["held back", "pause"]


def test_campaigns_are_in_order() -> None:
    parts = [wanted(name) for name in ("c", "a", "b")]
    found = survey_of([state(parts[2])], [waiting(parts[2], hold=1)])
    assert [change.campaign for change in diff(*parts, found=found).changes] == ["a", "b", "c"]


class TestGone:
    """Campaigns that git has no more."""

    live = survey_of([state(LETTERS)], [waiting(LETTERS)])
    held = survey_of([state(LETTERS)], [HELD])
    other = wanted("maps")

    def prune(
        self, found: Survey, *, release_holds: bool = False, limit: int | None = None
    ) -> list[Change]:
        both = replace(
            found,
            states={**found.states, "maps": state(self.other)},
            jobs={**found.jobs, "maps": [waiting(self.other)]},
        )
        done = compare(
            [self.other], both, prune=True, release_holds=release_holds, prune_limit=limit
        )
        return list(done.changes)

    def test_without_prune_they_stay(self) -> None:
        found = diff(found=self.live)
        assert told(found) == [
            "stays: campaign letters: still on the cluster though not in git: apply with --prune "
            "to cancel"
        ]
        assert found.exit_code == 0
        (line,) = told(diff(found=self.held))
        assert f"{HOLD}; {LIFTED}, and --prune cancels it then" in line
        # Nothing of it runs any more.
        assert told(diff(found=survey_of([state(LETTERS, Step.ENDED)]))) == []
        assert told(diff(found=survey_of([state(LETTERS)], begun={"letters"}))) == []

    def test_with_prune_they_are_cancelled(self) -> None:
        assert list(map(str, self.prune(self.live))) == ["prune: Array/letters"]
        ended = survey_of([state(LETTERS, Step.ENDED)])
        assert list(map(str, self.prune(ended))) == ["prune: Array/letters"]

    def test_a_hold_keeps_them(self) -> None:
        (line,) = map(str, self.prune(self.held))
        assert line.startswith(f"held back: campaign letters: its file is gone, and {HOLD}; ")
        (line,) = map(str, self.prune(self.held, release_holds=True))
        assert line == f"prune: Array/letters: is released with it, though {HOLD}; {LIFTED}"

    def test_what_apply_would_refuse_comes_first(self) -> None:
        (refused, pruned) = map(str, self.prune(self.live, limit=0))
        assert refused.startswith("refused: prune: prune would cancel 1 campaigns (letters), more")
        assert pruned == "prune: Array/letters"
        (refused, _) = told(diff(found=self.live, prune=True))
        assert refused == (
            "refused: prune: there is no campaign in the repository: apply asks for --allow-empty"
        )
