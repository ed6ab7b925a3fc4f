"""Commands that wait for each other, and directories that are whole or not there."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from localcluster.lock import held, whole
from localcluster.progress import Progress

HOLD = """
import sys
from pathlib import Path
from localcluster.lock import held
from localcluster.progress import Progress
with held(Path(sys.argv[1]), "", Progress(quiet=True)):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_waited_for_and_freed_by_sigkill(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    path, said = tmp_path / "new" / ".lock", io.StringIO()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"

        class Killing(Progress):
            def say(self, text: str) -> None:
                said.write(text)
                other.kill()

        with held(path, "a build of x", Killing()):
            assert said.getvalue() == "waiting for another command: a build of x ..."


def test_a_lock_that_nobody_holds_is_taken_without_a_word(tmp_path: Path) -> None:
    said = io.StringIO()
    with held(tmp_path / ".lock", "anything", Progress(said)):
        assert said.getvalue() == ""


def test_a_whole_directory_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with whole(target, "kind") as scratch:
        (scratch / "file").write_text("text")
        assert not target.exists()
    assert (target / "file").read_text() == "text"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_one_that_failed(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), whole(tmp_path / "made", "kind") as scratch:
        scratch.write_text("a directory is not a file")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_command_has_left_is_deleted_but_not_that_of_another_kind(
    tmp_path: Path,
) -> None:
    (tmp_path / ".kind-new-1234").mkdir()
    (tmp_path / ".other-new-1234").mkdir()
    with whole(tmp_path / "made", "kind"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"made", ".other-new-1234"}
