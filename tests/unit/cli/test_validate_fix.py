"""`campaigns validate --fix` and `--diff`: what is written, and what is said of it."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from converter import rewrite
from converter.cli import fix, validate
from converter.errors import Refused
from converter.load.fix import fixes

SETTINGS = b"namespace: campaigns\r\nqueue: campaigns\r\ncommand: [ocr, 8]   # eight\r\n"
MISREAD = b"pipeline: ocr\nvolumes: [0012, 1.10, 1:20]\n"
MENDED = b'pipeline: ocr\nvolumes: ["0012", "1.10", 1:20]\n'


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three misread texts to mend and one to leave, in a file each; one of them ends in .yml."""
    root = tmp_path / "repository"
    for directory in ("campaigns", "pipelines"):
        (root / directory).mkdir(parents=True)
    (root / "converter.yaml").write_bytes(SETTINGS)
    (root / "pipelines/ocr.yml").write_bytes(f"image: r.example/ocr@sha256:{'0' * 64}\n".encode())
    (root / "campaigns/letters.yaml").write_bytes(MISREAD)
    monkeypatch.chdir(root)
    return root


def run(*arguments: str) -> Result:
    return CliRunner().invoke(validate.command, arguments, standalone_mode=False)


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_what_is_safe_is_mended_and_the_rest_reported(repo: Path) -> None:
    before = contents(repo)
    done = run("--fix")
    assert done.return_value == 1
    assert done.output.splitlines() == [
        "campaigns/letters.yaml:2:27: F007 volumes, entry 3: YAML reads 1:20 as the number 80 — "
        'put it in quotes: "1:20"',
        "Fixed 4 problems in 3 files.",
        "Found 1 error in 1 file.",
    ]
    assert contents(repo) == {
        "converter.yaml": SETTINGS.replace(b"8]", b'"8"]'),
        "pipelines/ocr.yaml": before["pipelines/ocr.yml"],
        "campaigns/letters.yaml": MENDED,
    }


def test_the_exit_code_is_that_of_what_is_left(repo: Path) -> None:
    (repo / "campaigns/letters.yaml").write_bytes(MISREAD.replace(b", 1:20", b""))
    done = run("--fix")
    assert (done.return_value, done.output) == (
        0,
        "Fixed 4 problems in 3 files.\nAll 3 files are valid.\n",
    )
    done = run("--fix")
    assert (done.return_value, done.output) == (0, "All 3 files are valid.\n")


@pytest.mark.parametrize("output", ["json", "github", "sarif"])
def test_the_formats(repo: Path, output: str) -> None:
    done = run("--fix", "--format", output)
    if output == "github":
        assert done.stdout.splitlines()[-2:] == [
            "Fixed 4 problems in 3 files.",
            "Found 1 error in 1 file.",
        ]
    else:
        document = json.loads(done.stdout)
        assert document.get("fixed") == ({"problems": 4, "files": 3} if output == "json" else None)
    assert "fixed" not in run("--format", "json").stdout


def test_the_difference_is_shown_and_nothing_done(repo: Path) -> None:
    before = contents(repo)
    done = run("--diff", "--fix")
    assert done.return_value == 1
    assert contents(repo) == before
    assert done.stderr == "Would fix 4 problems in 3 files.\n"
    assert done.stdout.replace("\r", "") == (
        "diff --git a/converter.yaml b/converter.yaml\n"
        "--- a/converter.yaml\n+++ b/converter.yaml\n"
        "@@ -1,3 +1,3 @@\n namespace: campaigns\n queue: campaigns\n"
        '-command: [ocr, 8]   # eight\n+command: [ocr, "8"]   # eight\n'
        "diff --git a/pipelines/ocr.yml b/pipelines/ocr.yaml\n"
        "rename from pipelines/ocr.yml\nrename to pipelines/ocr.yaml\n"
        "diff --git a/campaigns/letters.yaml b/campaigns/letters.yaml\n"
        "--- a/campaigns/letters.yaml\n+++ b/campaigns/letters.yaml\n"
        "@@ -1,2 +1,2 @@\n pipeline: ocr\n"
        '-volumes: [0012, 1.10, 1:20]\n+volumes: ["0012", "1.10", 1:20]\n'
    )


def test_git_applies_the_difference_to_what_fix_makes_of_it(repo: Path) -> None:
    (repo / "campaigns/maps.yml").write_bytes("\ufeffpipeline: ocr\nvolumes: [é, 007]".encode())
    before = contents(repo)
    shown = subprocess.run(
        ["git", "apply", "-"], input=run("--diff").stdout_bytes, capture_output=True, check=False
    )
    assert shown.stderr == b""
    applied = contents(repo)
    for path in applied:
        (repo / path).unlink()
    for path, text in before.items():
        (repo / path).write_bytes(text)
    run("--fix")
    assert contents(repo) == applied != before


def test_no_difference(repo: Path) -> None:
    run("--fix")
    done = run("--diff")
    assert (done.return_value, done.output) == (0, "")


def test_a_difference_is_text(repo: Path) -> None:
    done = CliRunner().invoke(validate.command, ["--diff", "--format", "json"])
    assert done.exit_code == 2
    assert "--diff is text" in done.output


def test_a_file_that_is_named_by_its_wrong_name_is_mended(repo: Path) -> None:
    (repo / "campaigns/letters.yaml").unlink()
    done = run("--fix", "pipelines/ocr.yml")
    assert done.output == "Fixed 2 problems in 2 files.\nAll 2 files are valid.\n"


def test_mode_and_link_stay_and_nothing_is_left_behind(repo: Path) -> None:
    letters = repo / "campaigns/letters.yaml"
    letters.rename(repo / "shared.txt")
    letters.symlink_to("../shared.txt")
    (repo / "shared.txt").chmod(0o640)
    run("--fix")
    assert letters.is_symlink()
    assert (repo / "shared.txt").read_bytes() == MENDED
    assert stat.S_IMODE((repo / "shared.txt").stat().st_mode) == 0o640
    assert sorted(os.listdir(repo / "campaigns")) == ["letters.yaml"]
    assert sorted(os.listdir(repo)) == ["campaigns", "converter.yaml", "pipelines", "shared.txt"]


def test_a_file_outside_of_the_repository_is_not_written(repo: Path) -> None:
    letters, outside = repo / "campaigns/letters.yaml", repo.parent / "outside.yaml"
    letters.rename(outside)
    letters.symlink_to("../../outside.yaml")
    done = run("--fix")
    assert "campaigns/letters.yaml:0:0: F001" in done.output
    assert outside.read_bytes() == MISREAD
    with pytest.raises(Refused, match="leads out of the repository"):
        rewrite.rewrite(repo, "campaigns/letters.yaml", MISREAD, MENDED)
    with pytest.raises(Refused, match="leads out of the repository"):
        rewrite.rename(repo, "campaigns/letters.yaml", "campaigns/a.yaml", MISREAD)


def test_a_file_that_changed_since_is_left_alone(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(fixes(repo))
    monkeypatch.setattr(fix, "fixes", lambda _: found)
    for path in ("campaigns/letters.yaml", "pipelines/ocr.yml"):
        with (repo / path).open("ab") as file:
            file.write(b"# mine\n")
    before = contents(repo)
    done = run("--fix")
    assert done.stderr == (
        "pipelines/ocr.yml: not fixed: it changed while it was looked at\n"
        "campaigns/letters.yaml: not fixed: it changed while it was looked at\n"
    )
    assert "Fixed 1 problem in 1 file.\n" in done.stdout
    assert contents(repo) == {**before, "converter.yaml": SETTINGS.replace(b"8]", b'"8"]')}


def test_a_new_file_of_the_name_is_not_overwritten(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(fixes(repo))
    monkeypatch.setattr(fix, "fixes", lambda _: found)
    (repo / "pipelines/ocr.yaml").write_bytes(b"mine")
    done = run("--fix")
    assert "pipelines/ocr.yml: not fixed: File exists\n" in done.stderr
    assert (repo / "pipelines/ocr.yaml").read_bytes() == b"mine"
    assert (repo / "pipelines/ocr.yml").exists()


@pytest.mark.parametrize("failing", ["fsync", "fchmod"])
def test_a_file_that_cannot_be_written_stays_whole(
    repo: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = contents(repo)
    monkeypatch.setattr(os, failing, full)
    done = run("--fix")
    assert "converter.yaml: not fixed: No space left on device\n" in done.stderr
    assert done.return_value == 1
    assert contents(repo) == {
        **{path: text for path, text in before.items() if path != "pipelines/ocr.yml"},
        "pipelines/ocr.yaml": before["pipelines/ocr.yml"],
    }


def test_an_interrupted_run_leaves_no_half_file(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = contents(repo)
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fix.fix([repo])
    assert contents(repo) == before


def test_several_repositories(repo: Path) -> None:
    other = repo.parent / "other"
    (other / "campaigns").mkdir(parents=True)
    (other / "converter.yaml").write_bytes(SETTINGS)
    done = run("--fix", ".", str(other))
    assert "Fixed 5 problems in 4 files.\n" in done.output
