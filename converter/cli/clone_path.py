"""Where a file is in its clone: CI systems know files by that path alone."""

import os
from pathlib import Path


def in_clone(path: str, top: Path | None) -> str:
    """A path that opens from where we run, as one from the top of the clone `top`.

    It stays as it is where there is no clone, or where it leads out of it.
    """
    if top is None:
        return path
    # First the place that was named: a symbolic link within the clone is a file of its own.
    for real in (os.path.abspath, os.path.realpath):
        file, above = Path(real(path)), Path(real(top))
        if file.is_relative_to(above):
            return file.relative_to(above).as_posix()
    return path
