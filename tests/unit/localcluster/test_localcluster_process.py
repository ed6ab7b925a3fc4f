"""Processes: started, found again, told from others, ended."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from localcluster import process
from localcluster.errors import ClusterError
from localcluster.process import ProcessId
from localcluster.supervisor import Component, Supervisor

SLEEP = (sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)")
DEAF = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True);"
    " time.sleep(600)",
)
FAILING = (sys.executable, "-c", "import sys; sys.exit('the disk is full')")


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    for name in ("run", "logs"):
        (tmp_path / name).mkdir()
    yield Supervisor(tmp_path, tmp_path / "run", tmp_path / "logs")
    process.kill(process.marked_with(tmp_path))


def component(directory: Path, argv: tuple[str, ...] = SLEEP, name: str = "one") -> Component:
    log = directory / "logs" / f"{name}.log"
    return Component(name, argv, lambda _: "up" in log.read_text(), directory)


def test_a_stat_whose_command_has_parentheses() -> None:
    fields = " ".join(str(number) for number in range(4, 53))
    assert process.parse_stat(f"42 (a) b (c)) S {fields}") == ("S", 22)


def test_this_process_is_known_and_a_former_one_is_not() -> None:
    found = process.identify(os.getpid())
    assert found is not None
    assert process.is_running(found)
    assert not process.is_running(replace(found, start_time=found.start_time - 1))
    assert not process.is_running(replace(found, boot_id="another boot"))


def test_a_started_component_is_found_by_another_command(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    one = component(tmp_path)
    started = supervisor.start(one)
    supervisor.wait(one)
    another = Supervisor(tmp_path, tmp_path / "run", tmp_path / "logs")
    assert another.running("one") == started
    assert another.is_current(one)
    assert not another.is_current(component(tmp_path, (*SLEEP, "changed")))
    assert [*process.marked_with(tmp_path)] == [started]


def test_a_component_gets_nothing_of_the_environment_but_the_path(
    monkeypatch: pytest.MonkeyPatch, supervisor: Supervisor, tmp_path: Path
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "KUBECONFIG", "GOFLAGS"):
        monkeypatch.setenv(name, "set")
    one = replace(component(tmp_path), environment={"ADDED": "1"})
    started = supervisor.start(one)
    # For a moment after the start the kernel shows no environment at all.
    supervisor.wait(one)
    names = Path(f"/proc/{started.pid}/environ").read_text().split("\0")
    assert {name.partition("=")[0] for name in names if name} == {"PATH", "ADDED", process.MARKER}


@pytest.mark.parametrize("argv", [SLEEP, DEAF])
def test_a_component_is_ended_even_if_it_does_not_listen(
    supervisor: Supervisor, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    one = component(tmp_path, argv)
    started = supervisor.start(one)
    supervisor.wait(one)
    supervisor.stop("one", grace=0.5)
    assert not process.is_running(started)
    assert supervisor.running("one") is None


def test_a_crash_leaves_a_record_that_is_not_taken_for_a_process(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    one = component(tmp_path)
    supervisor.start(one)
    supervisor.kill("one")
    assert (tmp_path / "run/one.json").exists()
    assert supervisor.running("one") is None
    assert not supervisor.is_current(one)


def test_a_record_that_was_cut_short_is_of_no_process(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    (tmp_path / "run/one.json").write_text('{"process": {"pid"')
    assert supervisor.running("one") is None


def test_a_component_that_ends_is_said_with_its_last_words(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    one = component(tmp_path, FAILING)
    supervisor.start(one)
    with pytest.raises(ClusterError, match=r"one ended\. Its log is .*\n    the disk is full"):
        supervisor.wait(one)


def test_a_component_that_is_never_ready_is_said(supervisor: Supervisor, tmp_path: Path) -> None:
    one = replace(component(tmp_path), ready=lambda _: False)
    supervisor.start(one)
    with pytest.raises(ClusterError, match="one is not ready after 0 s"):
        supervisor.wait(one, timeout=0.1)


def test_its_files_are_written_and_a_change_of_them_is_one_of_the_component(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    one = replace(component(tmp_path), files={file: "a"})
    supervisor.start(one)
    assert file.read_text() == "a"
    assert supervisor.is_current(one)
    assert not supervisor.is_current(replace(one, files={file: "b"}))


def test_a_start_ends_the_process_of_before(supervisor: Supervisor, tmp_path: Path) -> None:
    first = supervisor.start(component(tmp_path))
    second = supervisor.start(component(tmp_path, (*SLEEP, "changed")))
    assert not process.is_running(first)
    assert process.is_running(second)


def test_only_processes_with_the_marker_are_found(tmp_path: Path) -> None:
    assert [*process.marked_with(tmp_path)] == []
    log = tmp_path / "log"
    started = process.spawn(SLEEP, log=log, environment={}, directory=tmp_path)
    try:
        assert started not in process.marked_with(tmp_path)
    finally:
        os.kill(started.pid, signal.SIGKILL)
        process.wait_until_gone([started], 10)


def test_killing_a_process_that_is_gone_does_nothing() -> None:
    found = process.identify(os.getpid())
    assert found is not None
    process.kill([ProcessId(found.pid, 0, found.boot_id)])
    process.stop(ProcessId(found.pid, 0, found.boot_id), grace=0)
