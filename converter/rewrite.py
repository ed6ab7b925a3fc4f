"""Changing a file of somebody's repository: as a whole, or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from converter.errors import Refused


def rewrite(root: Path, path: str, before: bytes, after: bytes) -> None:
    """Make the file `path` of the directory `root` hold `after`; nobody sees half of it.

    A symbolic link stays one, and its target is written. Mode and, where that is allowed, owner
    stay. Raises Refused where the file does not hold `before` any more or lies outside of `root`,
    and OSError where it cannot be written.
    """
    file = _inside(root, path)
    status = file.stat()
    handle, beside = mkstemp(prefix=".campaigns-fix-", dir=file.parent)
    try:
        with open(handle, "wb") as new:
            new.write(after)
            with suppress(PermissionError):
                os.fchown(handle, status.st_uid, status.st_gid)
            os.fchmod(handle, stat.S_IMODE(status.st_mode))
            new.flush()
            os.fsync(handle)
        _require(file, before)
        Path(beside).replace(file)
    finally:
        with suppress(FileNotFoundError):
            Path(beside).unlink()


def rename(root: Path, path: str, new_path: str, contents: bytes) -> None:
    """Give the file `path` of the directory `root` another name in its directory.

    Raises Refused where it does not hold `contents` any more or lies outside of `root`, and OSError
    where there is a file of that name already or the name cannot be given.
    """
    file = _inside(root, path)
    _require(file, contents)
    # Unlike a rename, a link takes no other file's place.
    os.link(file, file.with_name(Path(new_path).name))
    file.unlink()


def _inside(root: Path, path: str) -> Path:
    # Path.resolve raises RuntimeError for a loop of links before Python 3.13.
    file = Path(os.path.realpath(root / path, strict=True))
    if not file.is_relative_to(os.path.realpath(root)):
        raise Refused("a symbolic link leads out of the repository")
    return file


def _require(file: Path, contents: bytes) -> None:
    if file.read_bytes() != contents:
        raise Refused("it changed while it was looked at")
