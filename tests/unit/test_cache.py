"""Notes for the next run: whole or not at all, few, and of no consequence when they are lost."""

import marshal
import multiprocessing
import os
from pathlib import Path

import pytest

from converter import cache

NOTE: cache.Note = {"key": b"k", "campaigns": {"campaigns/a.yaml": (b"digest", b"links" * 50)}}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gitops-campaigns/validate"


def only(place: Path) -> Path:
    [file] = place.iterdir()
    return file


def test_a_note_is_read_as_it_was_written(place: Path) -> None:
    assert cache.read("/repo") is None
    cache.write("/repo", NOTE)
    assert cache.read("/repo") == NOTE
    assert cache.read("/repo/other") is None
    cache.write("/repo", {"key": b"l"})
    assert cache.read("/repo") == {"key": b"l"}
    assert only(place).stat().st_mode & 0o077 == 0


def test_a_damaged_note_is_none(place: Path) -> None:
    cache.write("/repo", NOTE)
    data = only(place).read_bytes()
    for position in range(0, len(data), 7):
        only(place).write_bytes(data[:position])
        assert cache.read("/repo") is None
        flipped = bytes((data[position] ^ 0x10,))
        only(place).write_bytes(data[:position] + flipped + data[position + 1 :])
        assert cache.read("/repo") is None
    cache.write("/repo", NOTE)
    assert cache.read("/repo") == NOTE


@pytest.mark.parametrize("content", [b"", b"[", marshal.dumps([1]), marshal.dumps(1)[:-1]])
def test_what_somebody_else_wrote_is_none(place: Path, content: bytes) -> None:
    cache.write("/repo", NOTE)
    only(place).write_bytes(cache.digest(content) + content)
    assert cache.read("/repo") is None


def test_what_is_no_file_is_none(place: Path) -> None:
    cache.write("/repo", NOTE)
    file = only(place)
    file.rename(place / "elsewhere")
    file.symlink_to(place / "elsewhere")
    assert cache.read("/repo") is None
    file.unlink()
    os.mkfifo(file)
    assert cache.read("/repo") is None
    cache.write("/repo", NOTE)
    assert cache.read("/repo") == NOTE


def test_there_are_never_many_notes(place: Path) -> None:
    for number in range(cache.MOST_NOTES + 5):
        cache.write(f"/repo/{number}", NOTE)
        for age, file in enumerate(place.iterdir()):
            os.utime(file, (age, age))
    (place / "left-by-a-killed-process").write_bytes(b"")
    os.utime(place / "left-by-a-killed-process", (0, 0))
    (place / "link").symlink_to("nowhere")
    os.utime(place / "link", (1, 1), follow_symlinks=False)
    cache.write("/repo/last", NOTE)
    assert len(list(place.iterdir())) == cache.MOST_NOTES
    assert not (place / "left-by-a-killed-process").exists()
    assert cache.read("/repo/last") == NOTE


def test_a_note_is_never_large(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 100)
    cache.write("/repo", NOTE)
    assert not place.exists()


def test_no_place_for_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    (tmp_path / "gitops-campaigns").write_text("a file where the directory should be")
    cache.write("/repo", NOTE)
    assert cache.read("/repo") is None
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cache.write("/repo", NOTE)
    assert (tmp_path / "home/.cache/gitops-campaigns/validate").is_dir()
    monkeypatch.setenv("HOME", "")
    assert cache.directory() is None
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache.directory() is None
    cache.write("/repo", NOTE)
    assert cache.read("/repo") is None


def _write_and_read(number: int) -> int:
    wrong = 0
    for round_ in range(150):
        note: cache.Note = {"key": bytes((number,)) * (1 + 500 * (round_ % 7))}
        cache.write("/repo", note)
        read = cache.read("/repo")
        # Another process may have written its own meanwhile, but always a whole one.
        wrong += read is None or len(set(read["key"])) != 1
    return wrong


def test_processes_that_write_at_once_never_read_a_part(place: Path) -> None:
    with multiprocessing.Pool(3) as pool:
        assert pool.map(_write_and_read, range(3)) == [0, 0, 0]
    assert len(list(place.iterdir())) == 1
