"""task.sh where something is amiss: no directory, no log, no room, a cut result, no time."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from unit.render.shells import SHELLS
from unit.render.tasks import (
    CANCELLED,
    CONFIG,
    REQUEUE,
    RUNNING,
    RUNS_ELSEWHERE,
    STATE,
    TIMED_OUT,
    Task,
    script,
    until,
)

from converter.slurm.layout import FAILURES, RESULTS

pytestmark = pytest.mark.parametrize("shell", SHELLS)

IGNORES = """trap '' TERM
touch "$STARTED"
until [ -e "$STARTED.end" ]; do /bin/sleep 0.05; done"""


@pytest.fixture
def task(shell: tuple[str, ...], tmp_path: Path) -> Task:
    return Task(shell, tmp_path)


def away(task: Task) -> Path:
    """Take the file system away; gives where it is."""
    return (task.root / "shared").rename(task.root / "away")


def test_without_its_directory_a_task_goes_back_into_the_queue(task: Task) -> None:
    task.prepare(*script("echo ran"))
    kept = away(task)
    ran = task.run()
    assert (ran.code, task.calls) == (1, [STATE, REQUEUE])
    assert 60 < sum(task.pauses) < 180
    kept.rename(task.root / "shared")
    assert (task.noted(RESULTS), task.noted(FAILURES), task.log()) == ({}, {}, b"")
    assert task.run().output == b"ran\n"
    assert task.noted(RESULTS) == {"0": (0, 1)}


def test_a_directory_that_comes_back_is_waited_for(task: Task) -> None:
    task.prepare(*script("echo ran"))
    away(task)
    task.while_it_waits(f'[ "$1" -lt 10 ] || mv {task.root}/away {task.root}/shared')
    ran = task.run(SLURMD_NODENAME="n7")
    assert (ran.code, ran.output, task.calls) == (0, b"ran\n", [])
    assert ran.errors.startswith("campaigns: its directory was not there at once on n7\n")
    assert task.noted(RESULTS) == {"0": (0, 1)}


def test_it_is_waited_for_as_long_as_slurm_takes_nothing_back(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.answers(requeue=(1, ""))
    away(task)
    back = f"mv {task.root}/away {task.root}/shared"
    task.while_it_waits(f'[ "$(wc -l <"$FAKE/pauses")" -ne 30 ] || {back}')
    assert task.run().output == b"ran\n"
    assert REQUEUE in task.calls
    assert task.noted(RESULTS) == {"0": (0, 1)}


@pytest.mark.parametrize("answer", [CANCELLED, RUNS_ELSEWHERE])
def test_a_task_that_slurm_has_ended_meanwhile_does_not_come_back(answer: str, task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.answers(show=(0, answer))
    away(task)
    assert (task.run().code, task.calls) == (1, [STATE])


@pytest.mark.parametrize(
    ("answer", "calls"), [(CANCELLED, [STATE]), (TIMED_OUT, [STATE, REQUEUE]), (None, [STATE] * 3)]
)
def test_a_task_that_is_told_to_end_as_it_waits(
    answer: str | None, calls: list[str], task: Task
) -> None:
    task.prepare(*script("echo ran"))
    task.answers(show=(1, "") if answer is None else (0, answer))
    away(task)
    task.while_it_waits('[ "$1" -ne 2 ] || kill -TERM "$PPID"')
    assert (task.run().code, task.calls) == (1, calls)


def test_what_was_pruned_meanwhile_does_not_come_back(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.home.rename(task.root / "cancelled")
    assert (task.run().code, task.calls) == (1, [])


@pytest.mark.parametrize("name", [RESULTS, FAILURES])
def test_without_what_tells_of_the_tries_nothing_runs(name: str, task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.home / name).rmdir()
    assert (task.run().output, task.calls) == (b"", [STATE, REQUEUE])


def test_a_directory_of_logs_that_somebody_has_cleared_away(task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.home / "logs").rmdir()
    assert task.run().output == b"ran\n"


def test_a_log_that_cannot_be_opened(task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.home / "logs/0.log").mkdir()
    process = task.start()
    process.communicate(timeout=60)
    assert (process.returncode, task.calls) == (1, [STATE, REQUEUE])
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {})


def test_each_try_is_added_to_the_log(task: Task) -> None:
    task.prepare(*script('echo "try $INDEX_FAILURE_COUNT"; exit 3'))
    task.run()
    task.run()
    assert [line for line in task.log().splitlines() if line.startswith(b"try")] == [
        b"try 0",
        b"try 1",
    ]


def test_a_place_for_temporary_files_is_waited_for(task: Task) -> None:
    task.prepare(*script("echo ran"))
    task.while_it_waits(f'[ "$1" -lt 10 ] || mkdir -p {task.root}/late')
    assert task.run(TMPDIR=str(task.root / "late")).output.endswith(b"\nran\n")
    assert task.noted(FAILURES) == {}


WHOLE = "0 1 2026-12-03T00:00:00Z\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "0\n",
        "0 1\n",
        "0 1 \n",
        "0 1 then\n",
        f" {WHOLE}",
        f"100{WHOLE}",
        f"{WHOLE[:-1]} x",
    ],
)
def test_what_is_no_result_for_apply_is_none_for_a_task(text: str, task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.home / "results/0").write_text(text)
    ran = task.run()
    assert (ran.code, ran.output) == (0, b"ran\n")
    assert task.noted(RESULTS) == {"0": (0, 1)}


@pytest.mark.parametrize("target", ["good", "nowhere"])
def test_nor_is_a_link_a_result(target: str, task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.root / "good").write_text(WHOLE)
    (task.home / "results/0").symlink_to(task.root / target)
    assert task.run().output == b"ran\n"
    assert not (task.home / "results/0").is_symlink()
    assert task.noted(RESULTS) == {"0": (0, 1)}


def test_a_result_that_cannot_be_read_may_be_one(task: Task) -> None:
    task.prepare(*script("echo ran"))
    (task.home / "results/0").write_text(WHOLE)
    task.fake("sed", '#!/bin/sh\ncase $* in *results/*) exit 4 ;; esac\nexec /bin/sed "$@"\n')
    assert (task.run().output, task.calls) == (b"", [REQUEUE])
    assert (task.home / "results/0").read_text() == WHOLE


def test_a_command_that_goes_on_after_its_time_is_killed_before_slurm_does(task: Task) -> None:
    task.prepare(*script(IGNORES))
    task.answers(show=(0, TIMED_OUT))
    process = told(task)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGKILL
    assert task.calls == [STATE, CONFIG, STATE, REQUEUE]
    assert max(task.pauses) == 20
    assert (task.noted(RESULTS), task.noted(FAILURES)) == ({}, {"0.1": (137, 1)})
    assert b"campaigns: its time (--time) is over\n" in task.log()
    assert b"memory" not in task.log()


def test_what_was_killed_may_have_wanted_memory(task: Task) -> None:
    ran = task.prepare(*script("kill -KILL $$"), limit=0).run()
    assert task.noted(RESULTS) == {"0": (137, 1)}
    assert "it was killed (SIGKILL): for want of memory" in ran.errors


@pytest.mark.parametrize("answer", [RUNNING, CANCELLED, RUNS_ELSEWHERE, None])
def test_what_ends_for_another_reason_has_as_long_as_slurm_gives_it(
    answer: str | None, task: Task
) -> None:
    task.prepare(*script(f"{IGNORES}; exit 13"))
    task.answers(show=(1, "") if answer is None else (0, answer))
    process = told(task)
    until(lambda: STATE in task.calls)
    (task.root / "started.end").touch()
    process.communicate(timeout=60)
    assert process.returncode == 13
    assert CONFIG not in task.calls


def test_nor_is_it_killed_where_nobody_knows_how_long_that_is(task: Task) -> None:
    task.prepare(*script(f"{IGNORES}; exit 13"))
    task.answers(show=(0, TIMED_OUT), config=(1, ""))
    process = told(task)
    until(lambda: CONFIG in task.calls)
    (task.root / "started.end").touch()
    process.communicate(timeout=60)
    assert process.returncode == 13


def told(task: Task) -> subprocess.Popen[bytes]:
    """A task that was told to end as its command runs."""
    started = task.root / "started"
    process = task.start(STARTED=str(started))
    until(started.exists)
    process.send_signal(signal.SIGTERM)
    return process
