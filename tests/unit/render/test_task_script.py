"""task.sh, run by real shells on rendered files, with a scontrol that notes its calls."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from unit.render.shells import SHELLS, SOURCES
from unit.render.tasks import (
    CANCELLED,
    CONFIG,
    HOLD,
    REQUEUE,
    RUNNING,
    RUNS_ELSEWHERE,
    STATE,
    TIMED_OUT,
    Task,
    script,
    until,
)

from converter.model import SourceKind, Volume
from converter.slurm.layout import FAILURES, RESULTS

HOSTILE = [
    "plain",
    "",
    " ",
    "  two  blanks  ",
    "'single' \"double\" `id` $(id) ${HOME} $HOME $$ $1 \\n \\ \\0101 \\\\",
    "a\ttab\tand = sign",
    "$(touch escaped)",
    "two\nlines",
    "\nstarts and ends\n",
    "\n\n",
    "100% %s %n %%",
    "carriage\rreturn",
    "*? [a-z] ~ ! # & ; | < >",
    "-n",
    "ünïcode \N{GREEK SMALL LETTER OMEGA} \u2028 \x85",
    "\x01\x7f",
]
pytestmark = pytest.mark.parametrize("shell", SHELLS)


@pytest.fixture
def task(shell: tuple[str, ...], tmp_path: Path) -> Task:
    return Task(shell, tmp_path)


def test_a_volume_that_is_done(task: Task) -> None:
    ran = task.prepare(*script("echo out; echo err >&2")).run()
    assert (ran.code, ran.output) == (0, b"out\nerr\n")
    assert ran.errors == "campaigns: volume A1, try 1 of at most 3, on this node\n"
    assert task.noted(RESULTS) == {"0": (0, 1)}
    assert task.noted(FAILURES) == {}
    assert (task.calls, task.left) == ([], [])


def test_13_is_for_good(task: Task) -> None:
    assert task.prepare(*script("exit 13")).run().code == 13
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({"0": (13, 1)}, {})
    assert (task.calls, task.left) == ([], [])


def test_a_failure_is_tried_again_up_to_the_limit(task: Task) -> None:
    task.prepare(*script('echo "$INDEX_FAILURE_COUNT/$BACKOFF_LIMIT_PER_INDEX"; exit 4'))
    for failures in range(3):
        ran = task.run()
        assert (ran.code, ran.output.decode()) == (4, f"{failures}/2\n")
        assert len(task.noted(FAILURES)) == failures + 1
    assert task.calls == [STATE, REQUEUE, STATE, REQUEUE, STATE]
    assert task.noted(FAILURES) == {"0.1": (4, 1), "0.2": (4, 2), "0.3": (4, 3)}
    assert task.noted(RESULTS) == {"0": (4, 3)}
    assert task.left == []


def test_failures_of_others_do_not_count(task: Task) -> None:
    volumes = [Volume(f"v{number}", SourceKind.REFERENCE) for number in range(12)]
    task.prepare(*script("exit 1"), volumes=volumes, limit=0)
    for name in ("10.1", "11.1", "11.2"):
        (task.home / "failures" / name).write_text("1 1 2026-01-01T00:00:00Z\n")
    assert task.run(1).code == 1
    assert task.noted(RESULTS) == {"1": (1, 1)}


def test_a_limit_of_none_tries_once(task: Task) -> None:
    assert task.prepare(*script("exit 1"), limit=0).run().code == 1
    assert (task.calls, task.noted(RESULTS)) == ([STATE], {"0": (1, 1)})


def test_a_success_after_a_failure(task: Task) -> None:
    task.prepare(*script('exit "$((INDEX_FAILURE_COUNT == 0))"'))
    assert [task.run().code, task.run().code] == [1, 0]
    assert task.noted(RESULTS) == {"0": (0, 2)}


@pytest.mark.parametrize("code", [0, 13, 7])
def test_what_has_ended_does_not_run_again(code: int, task: Task) -> None:
    task.prepare(*script(f"echo ran; exit {code}"), limit=0)
    assert task.run().code == code
    before, calls = (task.home / "results/0").read_bytes(), task.calls
    task.mark("paused")
    again = task.run()
    assert (again.code, again.output) == (code, b"")
    assert (task.home / "results/0").read_bytes() == before
    assert task.calls == calls


def test_a_paused_campaign_does_not_start(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.mark("paused")
    ran = task.run()
    assert (ran.output, task.calls) == (b"", [HOLD])
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {})


def test_nor_where_slurm_cannot_be_asked(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.mark("paused")
    task.answers(requeuehold=(1, ""))
    ran = task.run()
    assert (ran.code, ran.output, set(task.calls)) == (1, b"", {HOLD})
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {})


def test_a_campaign_paused_meanwhile_waits_at_its_gate(task: Task) -> None:
    task.prepare(*script('touch "$HOME_OF_IT/paused"; exit 1'))
    task.run(HOME_OF_IT=str(task.home))
    assert task.calls == [STATE, HOLD]
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {"0.1": (1, 1)})


def test_a_cancelled_campaign_does_not_start(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.mark("cancelled")
    ran = task.run()
    assert (ran.code, ran.output, task.calls) == (0, b"", [])
    assert task.noted(RESULTS) == {}


def test_a_campaign_cancelled_meanwhile_does_not_come_back(task: Task) -> None:
    task.prepare(*script('touch "$HOME_OF_IT/cancelled"; exit 1'))
    assert task.run(HOME_OF_IT=str(task.home)).code == 1
    assert task.calls == [STATE]


def test_slurm_is_asked_again_before_a_try_is_given_up(task: Task) -> None:
    task.prepare(*script("exit 1"))
    task.answers(requeue=(1, ""))
    assert task.run().code == 1
    assert task.calls.count(REQUEUE) > 3
    assert task.noted(RESULTS) == {"0": (1, 1)}


def test_a_task_that_slurm_ends_while_it_asks_to_be_queued_again_has_not_ended(task: Task) -> None:
    task.prepare(*script("exit 1"), limit=5)
    asked = task.root / "asked"
    slow = f"""#!/bin/sh
case $1 in
  requeue) touch {asked}; /bin/sleep 1; exit 1 ;;
  *) printf '%s' '{RUNNING}' ;;
esac
"""
    task.fake("scontrol", slow)
    process = task.start()
    until(asked.exists)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {"0.1": (1, 1)})


def test_a_failure_counts_where_slurm_does_not_say_how_the_task_is(task: Task) -> None:
    task.prepare(*script("exit 1"))
    task.answers(show=(1, ""))
    task.run()
    assert (task.noted(FAILURES), task.calls[-1]) == ({"0.1": (1, 1)}, REQUEUE)


@pytest.mark.parametrize("answer", [RUNS_ELSEWHERE, CANCELLED])
def test_a_failure_of_a_try_that_is_the_tasks_no_more(answer: str, task: Task) -> None:
    task.prepare(*script("exit 1"))
    task.answers(show=(0, answer))
    assert task.run().code == 1
    assert (task.calls, task.noted(FAILURES), task.noted(RESULTS)) == ([STATE], {}, {})


def test_a_task_knows_how_often_it_was_started(task: Task) -> None:
    task.prepare(*script("exit 1"))
    task.answers(show=(0, RUNS_ELSEWHERE))
    task.run(SLURM_RESTART_COUNT="1")
    assert task.calls == [STATE, REQUEUE]


DAWDLES = 'touch "$STARTED"; while :; do /bin/sleep 0.05; done'


def terminated(task: Task, text: str, answer: str | None, *, limit: int = 2) -> int:
    """How a task ends that Slurm sends SIGTERM while its command runs."""
    task.prepare(*script(text), limit=limit)
    if answer is not None:
        task.answers(show=(0, answer))
    else:
        task.answers(show=(1, ""))
    started = task.root / "started"
    process = task.start(STARTED=str(started))
    until(started.exists)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert task.left == []
    return process.returncode


@pytest.mark.parametrize("answer", [RUNNING, TIMED_OUT])
def test_a_command_that_was_ended_has_failed(answer: str, task: Task) -> None:
    assert terminated(task, DAWDLES, answer) == 128 + signal.SIGTERM
    assert [call for call in task.calls if call != CONFIG] == [STATE, STATE, REQUEUE]
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {"0.1": (143, 1)})


def test_the_last_try_that_was_ended(task: Task) -> None:
    assert terminated(task, DAWDLES, TIMED_OUT, limit=0) == 143
    assert (set(task.calls), task.noted(RESULTS)) == ({STATE, CONFIG}, {"0": (143, 1)})


@pytest.mark.parametrize("answer", [CANCELLED, RUNS_ELSEWHERE, None])
def test_what_slurm_ended_itself_is_no_failure_and_not_tried_again(
    answer: str | None, task: Task
) -> None:
    assert terminated(task, DAWDLES, answer) == 143
    assert set(task.calls) == {STATE}
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {})


@pytest.mark.parametrize("answer", [CANCELLED, RUNS_ELSEWHERE, None])
def test_what_slurm_ended_itself_is_not_done_though_it_says_so(
    answer: str | None, task: Task
) -> None:
    """As a program does that keeps how far it is, to go on from there."""
    tidy = f'trap "exit 0" TERM; {DAWDLES}'
    assert terminated(task, tidy, answer) in (1, 143)
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {})


@pytest.mark.parametrize("code", [0, 13, 127])
def test_a_command_that_is_told_may_end_in_its_own_way(code: int, task: Task) -> None:
    tidy = f'trap "exit {code}" TERM; {DAWDLES}'
    assert terminated(task, tidy, RUNNING, limit=0) in (code, 143)
    (result,) = task.noted(RESULTS).values()
    # A shell says 127 of a command too that it has heard of already.
    assert result == (code, 1) or (code, result) == (127, (143, 1))


def test_a_command_that_is_not_there(task: Task) -> None:
    assert task.prepare("no-such-program", limit=0).run().code == 127
    assert task.noted(RESULTS) == {"0": (127, 1)}


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_arrives_as_it_was_written(value: str, task: Task) -> None:
    volume = Volume("a", SourceKind.REFERENCE, env={"BEFORE": "1", "VALUE": value, "Z": "26"})
    others = Volume("b", SourceKind.REFERENCE, env={"VALUE": "of another"})
    task.prepare("env", "-0", volumes=[others, volume, others], env={"OF_ALL": value, "Z": "0"})
    ran = task.run(1)
    assert ran.code == 0
    found = {name: ran.environment.get(name) for name in ("BEFORE", "VALUE", "Z", "OF_ALL")}
    assert found == {"BEFORE": "1", "VALUE": value, "Z": "26", "OF_ALL": value}
    assert not (task.home / "escaped").exists()
    assert not Path("escaped").exists()


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_the_arguments_of_a_command_are_its_own(value: str, task: Task) -> None:
    ran = task.prepare("printf", "%s|", "first", value, "", "last").run()
    assert ran.output.decode() == f"first|{value}||last|"


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        *SOURCES,
        (
            Volume("A.1_x-Y", SourceKind.SOURCE, source="s3://ü/ a  \\0101 "),
            {"VOLUME_SOURCE": "s3://ü/ a  \\0101 "},
        ),
    ],
    ids=lambda value: str(value.kind) if isinstance(value, Volume) else "",
)
def test_what_a_task_knows(volume: Volume, expected: dict[str, str], task: Task) -> None:
    other = Volume("other", SourceKind.REFERENCE)
    ran = task.prepare("env", "-0", volumes=[other, volume]).run(1, IMAGES="old")
    names = [
        *("IMAGES", "IIIF_MANIFEST_URL", "VOLUME_SOURCE", "VOLUME_ID", "VOLUME_REF", "CAMPAIGN"),
        *("JOB_COMPLETION_INDEX", "PIPELINE_ID", "PIPELINE_PATH"),
    ]
    found = {name: ran.environment[name] for name in names if name in ran.environment}
    assert found.pop("PIPELINE_PATH").endswith("/letters/pipeline.yaml")
    assert found == {
        "VOLUME_ID": "A.1_x-Y",
        "VOLUME_REF": "A.1_x-Y",
        "CAMPAIGN": "letters",
        "PIPELINE_ID": "ocr-1",
        "JOB_COMPLETION_INDEX": "1",
        **expected,
    }
    assert [name for name in ran.environment if name.startswith("_campaigns")] == []


def test_a_task_has_a_directory_of_its_own(task: Task) -> None:
    text = '[ "$TMPDIR" = "$WORKDIR_PATH" ] && [ "$(pwd)" = "$TMPDIR" ] && touch x && pwd'
    place = Path(task.prepare(*script(text)).run().output.decode().strip())
    assert place.parent == task.root / "tmp"
    assert task.left == []


def test_no_directory_is_a_failure_like_any_other(task: Task) -> None:
    task.prepare("true").run(SLURM_TMPDIR=str(task.root / "none"))
    assert (task.calls, task.noted(FAILURES)) == ([STATE, REQUEUE], {"0.1": (1, 1)})


@pytest.mark.parametrize("index", [1, 100])
def test_an_index_without_a_volume_fails_for_good(index: int, task: Task) -> None:
    ran = task.prepare(*script("echo ran")).run(index)
    assert (ran.code, ran.output) == (13, b"")
    assert f"volumes.txt has no volume for index {index}" in ran.errors
    assert task.noted(RESULTS) == {str(index): (13, 1)}


@pytest.mark.parametrize("name", ["volumes.txt", "command", "environment"])
def test_a_file_that_is_away_is_a_failure_like_any_other(name: str, task: Task) -> None:
    task.prepare("true")
    (task.home / name).unlink()
    task.run()
    assert task.calls == [STATE, REQUEUE]
    assert list(task.noted(FAILURES)) == ["0.1"]


@pytest.mark.parametrize("number", ["", "x", "1;id"])
def test_it_is_for_tasks_of_an_array(number: str, task: Task) -> None:
    ran = task.prepare(*script("echo ran")).run(SLURM_ARRAY_TASK_ID=number)
    assert (ran.code, ran.output) == (2, b"")


def test_a_result_that_cannot_be_written_is_no_success(task: Task) -> None:
    task.prepare(*script('rm -r "$RESULTS"'))
    ran = task.run(RESULTS=str(task.home / "results"))
    assert ran.code == 1
    assert "cannot write results/0" in ran.errors


@pytest.mark.parametrize(
    ("program", "prefix"), [("apptainer", "APPTAINER"), ("singularity", "SINGULARITY")]
)
def test_a_container_is_given_the_variables_by_its_own_names(
    program: str, prefix: str, task: Task
) -> None:
    task.prepare(program, "exec", env={"PATH": "/of/the/container", "TEXT": "$(id)\n"})
    task.fake(program, "#!/bin/sh\nexec env -0\n")
    environment = task.run().environment
    assert environment[f"{prefix}ENV_PATH"] == "/of/the/container"
    assert environment[f"{prefix}ENV_TEXT"] == "$(id)\n"
    assert environment[f"{prefix}ENV_VOLUME_ID"] == "A1"
    assert environment[f"{prefix}_NO_EVAL"] == "1"
    assert environment["PATH"].endswith("/usr/bin:/bin")
