"""The page as a file: whole or not at all, and in the place of nothing but another page."""

import os
from pathlib import Path
from typing import Final

from converter.errors import Refused
from converter.rewrite import rewrite

_BEGINNING: Final = b"<!DOCTYPE html>"


def require_place(file: Path) -> None:
    """Raises Refused where a page must not, or cannot, be written."""
    target = _target(file)
    if not target.parent.is_dir():
        raise Refused(f"there is no directory {file.parent} to write {file.name} in: make it first")
    if not target.exists():
        return
    if not target.is_file():
        raise Refused(f"{file} is not a file: write --out - for standard output")
    with target.open("rb") as opened:
        beginning = opened.read(len(_BEGINNING))
    if beginning not in (b"", _BEGINNING):
        raise Refused(
            f"{file} is there and holds something else than a page, which would be lost: choose "
            "another name, for example --out page.html"
        )


def write_page(file: Path, text: str) -> None:
    """Raises Refused, as `require_place` does, and OSError. A link stays one."""
    require_place(file)
    target = _target(file)
    is_new = not target.exists()
    if is_new:
        # With the mode that a new file has.
        target.open("xb").close()
    try:
        rewrite(target.parent, target.name, target.read_bytes(), text.encode())
    except BaseException:
        if is_new:
            target.unlink(missing_ok=True)
        raise


def _target(file: Path) -> Path:
    # Not Path.resolve, which raises RuntimeError for a loop of links before Python 3.13.
    return Path(os.path.realpath(file))
