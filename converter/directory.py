"""A directory of generated files that may also hold files of somebody else.

A list of what was written lies in the directory. It is what makes a later run remove a file that
is no longer wanted, and keeps it from overwriting or removing any other.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from converter.errors import CampaignsError, Refused
from converter.slurm.layout import CAMPAIGNS, RENDERED

LIST_NAME: Final = ".campaigns-render"
_HEADING: Final = "# Written by `campaigns render`: the files here that it may replace and remove."


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the files; paths are relative to the directory, with forward slashes."""

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


def write_files(directory: Path, files: Mapping[str, str]) -> Written:
    """Make the directory hold `files` (path to text), and what is not ours besides.

    All is written to a directory of its own first and then moved into place file by file, so that
    none is ever seen half-written. A run that is stopped between two moves is finished by the next.
    Raises `Refused`, before anything is written, where a file is in the way that is not ours or a
    symbolic link leads out of the directory, and `CampaignsError` where the file system does not
    let us.
    """
    try:
        return _write(directory, files)
    except OSError as error:
        place = error.filename or directory
        raise CampaignsError(f"cannot write {place}: {error.strerror}") from error


def _write(directory: Path, files: Mapping[str, str]) -> Written:
    ours = _listed(directory)
    _refuse_foreign(directory, [path for path in files if path not in ours])
    changed = tuple(path for path in sorted(files) if not _holds(directory / path, files[path]))
    stale = tuple(sorted(path for path in ours - files.keys() if (directory / path).is_file()))
    _refuse_outside(directory, (*files, *stale))
    directory.mkdir(parents=True, exist_ok=True)
    # Inside the directory: what is around it may be another file system, or closed to us.
    with TemporaryDirectory(prefix=f"{LIST_NAME}-", dir=directory) as beside:
        new = {path: files[path] for path in changed}
        # Listed before it is there and until it is gone: a run that is stopped owns up to it all.
        _move_in(directory, Path(beside), {LIST_NAME: _list_text({*ours, *files}), **new})
        for path in stale:
            (directory / path).unlink()
        _move_in(directory, Path(beside), {LIST_NAME: _list_text(files)})
    return Written(changed, tuple(sorted(files.keys() - set(changed))), stale)


def _refuse_foreign(directory: Path, paths: Iterable[str]) -> None:
    for path in sorted(paths):
        if os.path.lexists(directory / path):
            raise Refused(
                f"{directory / path} was not written by campaigns render, so it is not "
                "overwritten; nothing was written: remove it, or choose another directory"
            )


def _refuse_outside(directory: Path, paths: Iterable[str]) -> None:
    inside = _real(directory)
    for path in sorted(paths):
        place = (directory / path).parent
        if not _real(place).is_relative_to(inside):
            raise Refused(
                f"{place} leads out of {directory} through a symbolic link; nothing was written: "
                "put a directory in its place, or choose another directory"
            )


def _real(path: Path) -> Path:
    # Path.resolve raises RuntimeError for a loop of links before Python 3.13.
    return Path(os.path.realpath(path))


def _move_in(directory: Path, beside: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (beside / path).parent.mkdir(parents=True, exist_ok=True)
        (beside / path).write_bytes(text.encode())
    for path in files:
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (beside / path).replace(directory / path)


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and not path.is_symlink() and path.read_bytes() == text.encode()


def _listed(directory: Path) -> frozenset[str]:
    """The files that an earlier run wrote, as far as they lie inside the directory."""
    path = directory / LIST_NAME
    if not path.is_file():
        return frozenset()
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    named = (line for line in lines if line and not line.startswith("#"))
    return frozenset(line for line in named if _is_inside(PurePosixPath(line)))


def _is_inside(path: PurePosixPath) -> bool:
    """Whether a listed path can be one of ours: the list may have come from a stranger's branch."""
    if path.is_absolute() or ".." in path.parts:
        return False
    return path.suffix == ".yaml" or _is_of_job_array(path)


def _is_of_job_array(path: PurePosixPath) -> bool:
    """Whether it is ``campaigns/<job>/<name>``, with a name that only a job array has."""
    match path.parts:
        case (first, _, name):
            return first == CAMPAIGNS and name in RENDERED
    return False


def _list_text(paths: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in (_HEADING, *sorted(paths)))
