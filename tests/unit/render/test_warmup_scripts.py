"""warmup.sh and warmup-wait.sh, run by real shells."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from unit.render.shells import SHELLS, Ran, run_script

from converter.resources import manifest_template

pytestmark = pytest.mark.parametrize("shell", SHELLS)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "warmup.done"


def _wait(shell: tuple[str, ...], root: Path, seconds: int) -> Ran:
    return run_script(
        shell, "warmup-wait", root, str(seconds), environment={"PIPELINE_ID": "ocr-1"}
    )


def test_marks_a_warmup_that_succeeded(
    shell: tuple[str, ...], marker: Path, tmp_path: Path
) -> None:
    ran = run_script(shell, "warmup", tmp_path, "printf", "%s", "$(id) `id`\n'")
    assert (ran.code, ran.output, ran.errors) == (0, b"$(id) `id`\n'", "")
    assert marker.exists()


@pytest.mark.parametrize("code", [1, 13])
def test_does_not_mark_one_that_failed(
    shell: tuple[str, ...], code: int, marker: Path, tmp_path: Path
) -> None:
    ran = run_script(shell, "warmup", tmp_path, "sh", "-c", f"exit {code}")
    assert ran.code == code
    assert not marker.exists()


def test_the_marker_comes_after_the_command(
    shell: tuple[str, ...], marker: Path, tmp_path: Path
) -> None:
    assert run_script(shell, "warmup", tmp_path, "test", "!", "-e", str(marker)).code == 0
    assert marker.exists()


def test_hands_on_the_request_to_stop(shell: tuple[str, ...], marker: Path, tmp_path: Path) -> None:
    """The command gets the signal and may clean up; nothing is marked."""
    text = manifest_template("warmup.sh").replace("/data/", f"{tmp_path}/data/")
    child = "trap 'echo cleaned; exit 0' TERM; echo started; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        [*shell, "-c", text, "warmup", "sh", "-c", child], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (143, b"cleaned\n")
    assert not marker.exists()


def test_the_gate_opens_on_a_marker(shell: tuple[str, ...], marker: Path, tmp_path: Path) -> None:
    marker.touch()
    assert _wait(shell, tmp_path, 0) == Ran(0, b"", "")


def test_the_gate_gives_up_for_good(shell: tuple[str, ...], marker: Path, tmp_path: Path) -> None:
    ran = _wait(shell, tmp_path, 1)
    assert ran.code == 13
    assert ran.errors == (
        f"warmup-wait: no {marker} after 1 seconds: see the warm-up Job of pipeline ocr-1\n"
    )
