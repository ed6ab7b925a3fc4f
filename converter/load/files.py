"""Finding and reading the files of a repository."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from converter.load.mistakes import Mistake
from converter.load.schema import FileKind
from converter.load.wording import shown

MAX_BYTES: Final = 32 * 1024 * 1024
SETTINGS_FILE: Final = "converter.yaml"
DIRECTORIES: Final = {FileKind.PIPELINE: "pipelines", FileKind.CAMPAIGN: "campaigns"}

# What somebody may have taken for the name of a directory, in any case of letters.
_LIKE_DIRECTORIES: Final = {
    "campaign": "campaigns",
    "campaigns": "campaigns",
    "pipeline": "pipelines",
    "pipelines": "pipelines",
}
SUFFIX: Final = ".yaml"
_OTHER_SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the repository, by its path in it, or what is wrong about it.

    `stands_for` is the path that the file would have if nothing were wrong with its name.
    """

    kind: FileKind
    path: str
    stands_for: str
    mistake: Mistake | None = None

    @property
    def name(self) -> str:
        """The name of the campaign or pipeline."""
        return self.path.rpartition("/")[2].removesuffix(SUFFIX)


def find(root: Path) -> Iterator[Found]:
    """The files of the repository in `root`, sorted: settings, pipelines, campaigns."""
    yield from _settings(root)
    yield from _misnamed_directories(root)
    for kind, directory in DIRECTORIES.items():
        yield from _directory(root, kind, directory)


def read(root: Path, path: str) -> str | Mistake:
    """The text of a file, or why it cannot be read."""
    file = root / path
    try:
        if not _real(file).is_relative_to(_real(root)):
            return _whole("F001", "a symbolic link that leaves the repository", "copy the file")
        status = file.stat()
        # A FIFO or a device would never end.
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            return _whole("F001", what, "put a file in its place")
        if status.st_size > MAX_BYTES:
            limit = MAX_BYTES // 1024**2
            return _whole("F001", f"larger than {limit} MiB", "split it into several campaigns")
        data = file.read_bytes()
    except OSError as error:
        # A link to itself or to nothing, no permission, gone meanwhile.
        return _whole("F001", f"cannot be read: {error.strerror}", "make it a readable file")
    return _decoded(data)


def _real(path: Path) -> Path:
    # Path.resolve raises RuntimeError for a loop of links before Python 3.13.
    return Path(os.path.realpath(path, strict=True))


def _decoded(data: bytes) -> str | Mistake:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8")) + 1
        return Mistake(line, column, "F001", "not UTF-8", "save the file as UTF-8")
    position = text.find("\0")
    if position < 0:
        return text
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return Mistake(line, column, "F001", "a NUL character", "save the file as UTF-8 text")


def _settings(root: Path) -> Iterator[Found]:
    path, other = SETTINGS_FILE, "converter.yml"
    misnamed = os.path.lexists(root / other)
    if os.path.lexists(root / path):
        yield Found(FileKind.CONVERTER, path, path)
        if misnamed:
            mistake = _whole("F008", f"not read, since there is a {path}", "keep one of the two")
            yield Found(FileKind.CONVERTER, other, other, mistake)
    elif misnamed:
        yield _misnamed(FileKind.CONVERTER, other, path)
    else:
        mistake = _whole("F008", "missing", "write the settings of the cluster into it")
        yield Found(FileKind.CONVERTER, path, path, mistake)


def _misnamed_directories(root: Path) -> Iterator[Found]:
    """Directories that are named nearly like one of ours, and have files like ours in them."""
    kinds = {directory: kind for kind, directory in DIRECTORIES.items()}
    for name in sorted(_names(root)):
        right = _LIKE_DIRECTORIES.get(name.lower(), name)
        if right != name and any(map(_is_yaml, _names(root / name))):
            mistake = _whole("F008", "files in it are not read", f"move them into {right}/")
            yield Found(kinds[right], name, right, mistake)


def _names(directory: Path) -> list[str]:
    """What is in a directory; nothing where it is none or cannot be read."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _is_yaml(name: str) -> bool:
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in _OTHER_SUFFIXES


def _directory(root: Path, kind: FileKind, directory: str) -> Iterator[Found]:
    try:
        with os.scandir(root / directory) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        # A repository without campaigns is one whose campaigns have all been cancelled.
        if os.path.lexists(root / directory):
            mistake = _whole("F001", "a symbolic link to nothing", "make it a directory")
            yield Found(kind, directory, directory, mistake)
        return
    except OSError as error:
        mistake = _whole("F001", f"cannot be read: {error.strerror}", "make it a directory")
        yield Found(kind, directory, directory, mistake)
        return
    for entry in found:
        if not entry.name.startswith("."):
            yield from _entry(kind, directory, entry)


def _entry(kind: FileKind, directory: str, entry: os.DirEntry[str]) -> Iterator[Found]:
    path = f"{directory}/{entry.name}"
    stem, suffix = os.path.splitext(entry.name)
    if suffix == SUFFIX:
        yield Found(kind, path, path)
    elif suffix.lower() in _OTHER_SUFFIXES:
        yield _misnamed(kind, path, f"{directory}/{stem}{SUFFIX}")
    elif entry.is_dir():
        message = f"a directory in {directory}/, whose files are not read"
        mistake = _whole("F008", message, f"move its files into {directory}/, or elsewhere")
        yield Found(kind, path, path, mistake)


def _misnamed(kind: FileKind, path: str, right: str) -> Found:
    message = f"only files that end in {SUFFIX} are read"
    return Found(kind, path, right, _whole("F008", message, f"rename it to {shown(right)}"))


def _whole(code: str, message: str, remedy: str) -> Mistake:
    return Mistake(0, 0, code, message, remedy)
