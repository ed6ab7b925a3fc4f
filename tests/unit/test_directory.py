"""A directory of generated files that may hold others."""

from __future__ import annotations

import os
import stat
from itertools import count
from pathlib import Path

import pytest

from converter.directory import LIST_NAME, Written, write_files
from converter.errors import CampaignsError, Refused
from converter.slurm.layout import RENDERED

FILES = {"pipelines/a.yaml": "a: 1\n", "campaigns/b.yaml": "b: \N{GREEK SMALL LETTER OMEGA}\n"}


def _contents(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8")
        for path in directory.rglob("*")
        if path.is_file() and path.name != LIST_NAME
    }


def test_makes_the_directory(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert write_files(out, FILES) == Written(tuple(sorted(FILES)), (), ())
    assert _contents(out) == FILES
    assert sorted(os.listdir(out)) == [LIST_NAME, "campaigns", "pipelines"]


def test_files_can_be_read_by_others(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_files(tmp_path / "out", FILES)
    finally:
        os.umask(mask)
    for path in ("pipelines", "pipelines/a.yaml"):
        mode = stat.S_IMODE((tmp_path / "out" / path).stat().st_mode)
        assert mode & 0o044 == 0o044


def test_a_second_run_leaves_what_is_the_same(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    before = (tmp_path / "pipelines/a.yaml").stat().st_ino
    written = write_files(tmp_path, {**FILES, "campaigns/b.yaml": "b: 2\n"})
    assert written == Written(("campaigns/b.yaml",), ("pipelines/a.yaml",), ())
    assert (tmp_path / "pipelines/a.yaml").stat().st_ino == before
    assert (tmp_path / "campaigns/b.yaml").read_text() == "b: 2\n"


def test_the_files_of_a_job_array_are_its_own_too(tmp_path: Path) -> None:
    files = {f"campaigns/letters/{name}": "a\n" for name in RENDERED}
    write_files(tmp_path, files)
    assert write_files(tmp_path, files).unchanged == tuple(sorted(files))
    assert write_files(tmp_path, {}).removed == tuple(sorted(files))


@pytest.mark.parametrize(
    "path", ["campaigns/letters/mine.txt", "campaigns/task.sh", "other/letters/task.sh", "a/limits"]
)
def test_a_list_that_names_other_files_is_not_believed(path: str, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("mine\n")
    (tmp_path / LIST_NAME).write_text(f"{path}\n")
    assert write_files(tmp_path, {}).removed == ()
    assert (tmp_path / path).exists()


def test_removes_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    (tmp_path / "campaigns/mine.yaml").write_text("mine\n")
    (tmp_path / "README.md").write_text("mine\n")
    only = {"pipelines/a.yaml": FILES["pipelines/a.yaml"]}
    assert write_files(tmp_path, only).removed == ("campaigns/b.yaml",)
    assert _contents(tmp_path) == {**only, "campaigns/mine.yaml": "mine\n", "README.md": "mine\n"}
    assert write_files(tmp_path, only).removed == ()


@pytest.mark.parametrize("kind", ["file", "link", "broken link", "directory"])
def test_what_is_in_the_way_is_refused(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_files(out, {"pipelines/old.yaml": "old\n"})
    way = out / "pipelines/a.yaml"
    target = tmp_path / "target"
    if kind == "file":
        way.write_text("mine\n")
    elif kind == "directory":
        way.mkdir()
    else:
        way.symlink_to(target)
        if kind == "link":
            target.write_text("mine\n")
    with pytest.raises(Refused, match=r"pipelines/a\.yaml was not written by campaigns render"):
        write_files(out, FILES)
    assert (out / "pipelines/old.yaml").read_text() == "old\n"
    assert not (out / "campaigns").exists()
    assert kind != "link" or target.read_text() == "mine\n"


@pytest.mark.parametrize("path", ["../outside.yaml", "{root}/outside.yaml", "notes.txt"])
def test_a_list_from_elsewhere_removes_nothing(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for victim in (tmp_path / "outside.yaml", out / "notes.txt"):
        victim.write_text("mine\n")
    (out / LIST_NAME).write_text(path.format(root=tmp_path) + "\n")
    write_files(out, FILES)
    assert (tmp_path / "outside.yaml").read_text() == "mine\n"
    assert (out / "notes.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    "files",
    [FILES, {"pipelines/a.yaml": "a: 1\n"}],
    ids=["a file to write", "a file to remove"],
)
def test_no_link_leads_out_of_the_directory(files: dict[str, str], tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    for made in (out, elsewhere):
        made.mkdir()
    (elsewhere / "b.yaml").write_text("mine\n")
    (out / "campaigns").symlink_to("../elsewhere")
    (out / LIST_NAME).write_text("campaigns/b.yaml\n")
    with pytest.raises(Refused, match=r"/campaigns leads out of .*; nothing was written: "):
        write_files(out, files)
    assert (elsewhere / "b.yaml").read_text() == "mine\n"
    assert sorted(os.listdir(out)) == [LIST_NAME, "campaigns"]


def test_the_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_files(tmp_path / "link", FILES)
    assert _contents(tmp_path / "real") == FILES


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4])
def test_a_run_that_was_stopped_is_finished_by_the_next(
    stop_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at the n-th file that it moves into place, as by Ctrl-C."""
    out = tmp_path / "out"
    write_files(out, {"pipelines/a.yaml": "old\n", "pipelines/gone.yaml": "old\n"})
    move, moved = Path.replace, count(1)

    def interrupted(path: Path, target: Path) -> Path:
        if next(moved) == stop_at:
            raise KeyboardInterrupt
        return move(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_files(out, FILES)
    assert set(os.listdir(out)) <= {LIST_NAME, "campaigns", "pipelines"}
    write_files(out, FILES)
    assert _contents(out) == FILES


def test_a_fault_of_the_file_system_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignsError, match=r"^cannot write .*file.*: Not a directory$"):
        write_files(tmp_path / "file" / "out", FILES)
