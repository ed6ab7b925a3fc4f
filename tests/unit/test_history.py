"""What validate makes of a repository in git: changes in the working tree since a commit."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from unit.cli.commands import CAMPAIGN, FILES, PIPELINE, run, write_repository
from unit.test_git import git

from converter.cli import validate
from converter.cli.repository import load_valid

LETTERS = "campaigns/letters.yaml"
OTHER_LIST = "pipeline: ocr\nvolumes: [A1, A2, A3]\n"
OTHER_RECIPE = f"{PIPELINE}args: [--best]\n"


def commit(repo: Path, files: Mapping[str, str] | None = None) -> str:
    write_repository(repo, files or {})
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "x")
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A clone whose one commit is of a valid repository."""
    directory = tmp_path / "clone"
    directory.mkdir()
    git(directory, "init", "--quiet", "--initial-branch=main")
    commit(directory, FILES)
    return directory


def validated(repo: Path, *options: str) -> Result:
    return CliRunner().invoke(validate.command, [str(repo), *options], standalone_mode=False)


def codes(repo: Path, *options: str) -> list[str]:
    result = validated(repo, *options)
    assert result.exception is None, result.output
    return re.findall(r"^\S+: ([A-Z]\d{3}) ", result.output, re.MULTILINE)


def warned(repo: Path) -> str:
    return validated(repo).stderr


def test_an_unchanged_repository(repo: Path) -> None:
    assert codes(repo) == codes(repo, "--since", "HEAD") == []


def test_a_campaign_that_was_renamed(repo: Path) -> None:
    git(repo, "mv", LETTERS, "campaigns/post.yaml")
    first = validated(repo).output.splitlines()[0]
    assert first.startswith(f"{repo}/campaigns/post.yaml:2:")
    assert f": G006 A1, A2 were in {LETTERS} in HEAD, which is gone: apply --prune cancels" in first
    # Also one that git does not know yet, and with a memory of what was valid.
    git(repo, "reset", "--quiet")
    assert codes(repo) == codes(repo, "--no-cache") == ["G006"]
    text = (repo / "campaigns/post.yaml").read_text()
    ignored = text.replace("volumes:", "# campaigns: ignore=G006 a test\nvolumes:")
    write_repository(repo, {"campaigns/post.yaml": ignored})
    assert codes(repo) == []


@pytest.mark.parametrize(
    "files",
    [
        {"campaigns/post.yaml": "pipeline: ocr\nvolumes: [B1]\n"},
        {"campaigns/post.yaml": CAMPAIGN.replace("ocr", "tei"), "pipelines/tei.yaml": PIPELINE},
        {"campaigns/unchanged.yaml": "pipeline: ocr\nvolumes: [A1]\n"},
        {},
    ],
    ids=["other volumes", "another pipeline", "one that was there", "nothing new"],
)
def test_a_campaign_that_left_git(repo: Path, files: Mapping[str, str]) -> None:
    commit(repo, {"campaigns/unchanged.yaml": "pipeline: ocr\nvolumes: [A1]\n"})
    (repo / LETTERS).unlink()
    write_repository(repo, files)
    assert codes(repo) == []


def test_a_list_of_volumes_that_was_edited(repo: Path) -> None:
    write_repository(repo, {LETTERS: OTHER_LIST})
    assert validated(repo).output.splitlines()[0] == (
        f"{repo}/{LETTERS}:2:19: G001 the list of volumes is not that of HEAD: 1 added — put the "
        "old list back, and write new work into a new file, for example campaigns/letters-2.yaml"
    )
    git(repo, "add", "--all")
    assert codes(repo) == ["G001"]
    commit(repo)
    assert codes(repo) == []
    assert codes(repo, "--since", "HEAD~1") == ["G001"]
    assert codes(repo, "--since", "HEAD^{commit}") == []


def test_each_rule_once(repo: Path) -> None:
    volumes = "volumes: [A1, A2]\n"
    commit(repo, {"campaigns/maps.yaml": "pipeline: ocr\nwindow: 2\nvolumes: [M1, M2]\n"})
    write_repository(
        repo,
        {
            "converter.yaml": f"{FILES['converter.yaml']}max_seconds: 60\n",
            "pipelines/ocr.yaml": OTHER_RECIPE,
            "pipelines/tei.yaml": PIPELINE,
            "campaigns/maps.yaml": "pipeline: ocr\nwindow: 1\nvolumes: [M1, M2]\n",
            LETTERS: f"pipeline: tei\n{volumes}",
        },
    )
    assert codes(repo) == ["G002", "G004", "G005", "G003"]


SAME = {
    "line ends": CAMPAIGN.replace("\n", "\r\n"),
    "quotes": 'pipeline: "ocr"\nvolumes: ["A1", "A2"]\n',
    "form": "# A comment.\nvolumes:\n  - A1  # the first\n  - A2\npipeline: ocr\n",
    "anchors": "pipeline: ocr\nvolumes: [&first A1, A2]\n",
    "no window": "pipeline: ocr\nvolumes: [A1, A2]\nwindow: 20\n",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
@pytest.mark.parametrize("backwards", [False, True])
def test_another_way_to_write_the_same(repo: Path, text: str, backwards: bool) -> None:
    old, new = (text, CAMPAIGN) if backwards else (CAMPAIGN, text)
    (repo / LETTERS).write_bytes(old.encode())
    commit(repo)
    (repo / LETTERS).write_bytes(new.encode())
    assert codes(repo) == []


@pytest.mark.parametrize("steps", ["[{on: 1e-4}]", "[{1: yes}]", "&steps [{a: 2024-01-31}]"])
def test_steps_are_compared_as_the_pipeline_reads_them(repo: Path, steps: str) -> None:
    commit(repo, {"pipelines/ocr.yaml": f"{PIPELINE}steps: {steps}\n"})
    write_repository(repo, {"pipelines/ocr.yaml": f"# x\n{PIPELINE}steps:  {steps}\n"})
    assert codes(repo) == []
    write_repository(repo, {"pipelines/ocr.yaml": f"{PIPELINE}steps: [{{a: 1}}]\n"})
    assert codes(repo) == ["G003"]


def test_files_that_come_and_go(repo: Path) -> None:
    (repo / LETTERS).rename(repo / "campaigns/letters-1.yaml")
    assert codes(repo) == ["G006"]
    (repo / "campaigns/letters-1.yaml").unlink()
    write_repository(repo, {"campaigns/new.yaml": OTHER_LIST.replace("A", "B")})
    assert codes(repo) == []
    git(repo, "add", "--all")
    assert codes(repo) == []
    write_repository(repo, {"pipelines/ocr.yaml": OTHER_RECIPE})
    assert codes(repo) == []


def test_a_recipe_is_no_matter_of_campaigns_that_git_does_not_have(repo: Path) -> None:
    (repo / LETTERS).unlink()
    commit(repo)
    write_repository(repo, {LETTERS: CAMPAIGN, "pipelines/ocr.yaml": OTHER_RECIPE})
    assert codes(repo) == []
    git(repo, "add", "--all")
    assert codes(repo) == []
    commit(repo)
    write_repository(repo, {"pipelines/ocr.yaml": PIPELINE})
    assert codes(repo) == ["G003"]


def test_a_file_that_git_was_told_to_forget(repo: Path) -> None:
    git(repo, "rm", "--quiet", "--cached", LETTERS)
    assert codes(repo) == []
    write_repository(repo, {LETTERS: OTHER_LIST})
    assert codes(repo) == ["G001"]


BROKEN = {
    "no YAML": "pipeline: [",
    "a key twice": f"{CAMPAIGN}pipeline: ocr\n",
    "an unknown key": f"{CAMPAIGN}windw: 1\n",
    "a wrong value": f"{CAMPAIGN}window: 20.0\n",
    "no text": "pipeline: ocr\nvolumes: [0012]\n",
    "nothing": "",
    "Latin-1": None,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_was_broken_before_is_compared_with_nothing(repo: Path, text: str | None) -> None:
    content = "pipeline: caf\xe9\nvolumes: [A]\n".encode("latin-1")
    (repo / LETTERS).write_bytes(content if text is None else text.encode())
    commit(repo)
    write_repository(repo, {LETTERS: OTHER_LIST, "pipelines/ocr.yaml": OTHER_RECIPE})
    assert codes(repo) == []


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_now_is_not_compared(repo: Path, text: str | None) -> None:
    (repo / LETTERS).write_bytes(b"\xe9" if text is None else text.encode())
    assert {code[0] for code in codes(repo)} == {"F"}


@pytest.mark.parametrize("path", ["converter.yaml", "pipelines/ocr.yaml"])
@pytest.mark.parametrize("then", [False, True], ids=["now", "then"])
def test_broken_settings_or_a_broken_recipe_are_not_compared(
    repo: Path, path: str, then: bool
) -> None:
    broken, changed = f"{FILES[path]}unknown: 1\n", f"{FILES[path]}max_seconds: 60\n"
    commit(repo, {path: broken if then else FILES[path]})
    write_repository(repo, {path: changed if then else f"{changed}unknown: 1\n", LETTERS: CAMPAIGN})
    assert codes(repo) == ([] if then else ["F004"])


def test_steps_that_were_broken_are_compared_with_nothing(repo: Path) -> None:
    for steps in ("[.inf]", "{a: 1, a: 2}"):
        commit(repo, {"pipelines/ocr.yaml": f"{PIPELINE}steps: {steps}\n"})
        write_repository(repo, {"pipelines/ocr.yaml": OTHER_RECIPE})
        assert codes(repo) == []


def test_a_repository_below_the_top_of_the_clone(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    eu, us = tmp_path / "teams/eu å", tmp_path / "teams/us"
    for directory in (eu, us):
        write_repository(directory, FILES)
    commit(tmp_path)
    write_repository(us, {LETTERS: OTHER_LIST, "pipelines/ocr.yaml": OTHER_RECIPE})
    assert codes(eu) == []
    assert codes(us) == ["G001", "G003"]
    (tmp_path / "link").symlink_to(us)
    assert codes(tmp_path / "link") == ["G001", "G003"]


def test_the_settings_of_git_for_diffs_are_of_no_matter(repo: Path) -> None:
    for setting in (
        "diff.external=false",
        "diff.relative=false",
        "diff.renames=copies",
        "diff.mnemonicPrefix=true",
        "color.ui=always",
        "core.quotePath=true",
        "diff.autoRefreshIndex=false",
        "core.abbrev=5",
    ):
        git(repo, "config", *setting.split("="))
    write_repository(repo, {LETTERS: OTHER_LIST, "pipelines/ocr.yaml": OTHER_RECIPE})
    assert codes(repo) == ["G001", "G003"]


def test_line_ends_that_git_converts(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    for path in FILES:
        (repo / path).unlink()
    git(repo, "checkout", "--quiet", ".")
    assert b"\r\n" in (repo / LETTERS).read_bytes()
    assert codes(repo) == []


def test_a_symbolic_link_is_compared_with_nothing(repo: Path) -> None:
    (repo / "campaigns/maps.yaml").symlink_to("letters.yaml")
    commit(repo)
    (repo / "campaigns/maps.yaml").unlink()
    write_repository(repo, {"campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1]\n"})
    assert codes(repo) == []


def test_a_branch_is_compared_with_where_it_began(repo: Path, tmp_path: Path) -> None:
    branch = tmp_path / "branch"
    git(tmp_path, "clone", "--quiet", str(repo), str(branch))
    # Somebody else's, merged meanwhile.
    commit(repo, {LETTERS: "pipeline: ocr\nwindow: 1\nvolumes: [A1, A2]\n"})
    git(branch, "fetch", "--quiet")
    commit(branch, {"campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1]\n"})
    assert codes(branch) == []
    commit(branch, {"campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1, M2]\n"})
    assert codes(branch) == []
    commit(branch, {LETTERS: OTHER_LIST})
    began = git(branch, "merge-base", "HEAD", "origin/main")[:10]
    assert f"G001 the list of volumes is not that of commit {began}: " in validated(branch).output
    assert codes(branch, "--since", "origin/main") == ["G004", "G001"]


def test_without_a_commit_nothing_is_compared(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write_repository(tmp_path, FILES)
    assert codes(tmp_path) == []


def refused(repo: Path, revision: str) -> str:
    done = run("validate", repo, f"--since={revision}")
    assert (done.returncode, done.stdout) == (2, "")
    *_, line = done.stderr.splitlines()
    return line


def test_a_directory_outside_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_repository(tmp_path, FILES)
    refusal = f"Error: Invalid value for --since: {tmp_path} is not in a git repository"
    assert refused(tmp_path, "HEAD") == refusal
    monkeypatch.setenv("PATH", str(tmp_path))
    assert codes(tmp_path) == []


@pytest.mark.parametrize("revision", ["nowhere", "", "-x", "--output=x", "f" * 40, "HEAD:file"])
def test_a_revision_that_git_does_not_know(repo: Path, revision: str) -> None:
    unnamed = "no commit is named: write one, for example origin/main"
    assert refused(repo, revision) == (
        f"Error: Invalid value for --since: {unnamed}"
        if not revision
        else f"Error: Invalid value for --since: git knows no commit {revision}; a shallow clone "
        "lacks older commits and other branches: fetch it (actions/checkout: fetch-depth: 0), or "
        "name another one"
    )
    assert not (repo / "x").exists()


@pytest.mark.parametrize("link", ["campaigns", LETTERS])
def test_what_a_link_leads_to_is_not_compared_and_that_is_said(repo: Path, link: str) -> None:
    (repo / link).rename(repo / "elsewhere")
    (repo / link).symlink_to(repo / "elsewhere")
    commit(repo)
    write_repository(repo, {LETTERS: OTHER_LIST})
    assert codes(repo, "--since", "HEAD") == []
    assert warned(repo) == (
        f"warning: not compared with HEAD, since git knows of the links alone: {link}: write files "
        "in their place for rules G\n"
    )


def test_a_shallow_clone_has_no_more_than_its_head(repo: Path, tmp_path: Path) -> None:
    commit(repo, {"campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1]\n"})
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", repo.as_uri(), str(shallow))
    assert codes(shallow) == []
    assert "git knows no commit HEAD~1; a shallow clone lacks" in refused(shallow, "HEAD~1")
    write_repository(shallow, {LETTERS: OTHER_LIST})
    assert codes(shallow) == ["G001"]


def test_a_shallow_clone_of_a_branch_says_what_it_is_compared_with(
    repo: Path, tmp_path: Path
) -> None:
    git(repo, "checkout", "--quiet", "-b", "edit")
    commit(repo, {LETTERS: OTHER_LIST})
    clone, shallow = tmp_path / "whole", tmp_path / "shallow"
    git(repo, "checkout", "--quiet", "main")
    for directory, depth in ((clone, ()), (shallow, ("--depth=1",))):
        git(tmp_path, "clone", "--quiet", "--branch=edit", *depth, repo.as_uri(), str(directory))
    assert (codes(clone), warned(clone)) == (["G001"], "")
    assert codes(shallow) == []
    assert warned(shallow).startswith("warning: compared with HEAD alone, since this clone is shal")
    assert (codes(repo), warned(repo)) == ([], "")


def test_a_repository_that_git_refuses_to_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_repository(repo, {LETTERS: OTHER_LIST})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert codes(repo) == []
    assert warned(repo).startswith("warning: not compared with any commit, so rules G found")
    assert "detected dubious ownership in repository" in refused(repo, "HEAD")


def test_without_the_program_nothing_is_compared(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(repo, {LETTERS: OTHER_LIST})
    monkeypatch.setenv("PATH", str(repo))
    assert codes(repo) == []
    assert "cannot run git: No such file" in warned(repo)
    assert "cannot run git: No such file" in refused(repo, "HEAD")


def test_as_a_hook_of_git(repo: Path) -> None:
    """git sets GIT_INDEX_FILE and more for a hook, here for one of a commit of one file."""
    write_repository(repo, {LETTERS: OTHER_LIST, "pipelines/ocr.yaml": OTHER_RECIPE})
    said = repo / "said"
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text(
        f"#!/bin/sh\nenv >'{said}'\nexport GIT_DIR=.git GIT_WORK_TREE=.\n"
        f"exec '{sys.executable}' -m converter validate '{repo}' >>'{said}'\n"
    )
    hook.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "commit", "--quiet", "--message", "x", LETTERS)
    assert "GIT_INDEX_FILE=" in said.read_text()
    assert re.findall(r": (G\d{3}) ", said.read_text()) == ["G001", "G003"]


def test_rules_that_are_left_out_do_not_ask_git(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(repo, {LETTERS: OTHER_LIST})
    program = repo / "git"
    program.write_text(f"#!/bin/sh\ntouch '{repo}/asked'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(repo), prepend=":")
    for options in (("--ignore", "G"), ("--select", "C"), ("--ignore", "G0", "--since", "nowhere")):
        assert codes(repo, *options) == []
    assert not (repo / "asked").exists()
    assert codes(repo, "--select", "G004") == []
    assert (repo / "asked").exists()


def test_apply_does_not_look_at_history(repo: Path) -> None:
    write_repository(repo, {LETTERS: OTHER_LIST})
    assert [volume.id for volume in load_valid(repo).campaigns["letters"].volumes][2:] == ["A3"]


def asked_of_git(repo: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[str]:
    """The commands of git that a validate runs."""
    trace = repo / ".git/trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    codes(repo, *options)
    monkeypatch.delenv("GIT_TRACE")
    found = re.findall(r"trace: built-in: git (\S+)", trace.read_text())
    trace.unlink()
    return found


def test_git_is_run_as_rarely_as_can_be(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a clone of a whole repository the first is enough.
    base = ["merge-base", "for-each-ref", "rev-parse"]
    assert asked_of_git(repo, monkeypatch) == [*base, "diff"]
    write_repository(repo, {LETTERS: OTHER_LIST})
    assert asked_of_git(repo, monkeypatch) == [*base, "diff", "cat-file"]
    known = ["rev-parse", "diff", "cat-file"]
    assert asked_of_git(repo, monkeypatch, "--since", "HEAD") == known
    write_repository(repo, {"pipelines/ocr.yaml": OTHER_RECIPE})
    assert asked_of_git(repo, monkeypatch) == [*base, "diff", "cat-file", "ls-tree"]


def test_before_the_first_commit_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write_repository(tmp_path, FILES)
    assert (codes(tmp_path), warned(tmp_path)) == ([], "")
