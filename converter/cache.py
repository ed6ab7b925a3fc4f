"""What a run notes down for the next one, in the user's cache directory.

A note is a help and never needed: one that cannot be read or written, or is damaged, is none.
"""

import marshal
import os
import stat
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

# What marshal can write, as far as it is used.
Note = dict[str, bytes | dict[str, tuple[bytes, bytes]]]

MOST_NOTES: Final = 32
MAX_BYTES: Final = 64 * 1024 * 1024
_DIGEST_SIZE: Final = 32
_SUFFIX: Final = ".note"


def digest(*parts: bytes) -> bytes:
    """A hash of the parts; where one ends and the next begins counts too."""
    state = blake2b(digest_size=_DIGEST_SIZE)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def directory() -> Path | None:
    """Where notes are, by the XDG base directory specification; None where there is no place."""
    # With an empty HOME ~ is the top directory.
    home = os.path.expanduser("~") if os.environ.get("HOME", "~") else ""
    given = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored.
    place = given if os.path.isabs(given) else os.path.join(home, ".cache")
    return Path(place, "gitops-campaigns", "validate") if os.path.isabs(place) else None


def read(subject: str) -> Note | None:
    """The note about `subject`, as `write` was given it."""
    place = directory()
    if place is None:
        return None
    data = contents(_file(place, subject), MAX_BYTES + _DIGEST_SIZE) or b""
    checksum, content = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    if checksum != digest(content):
        return None
    try:
        note = marshal.loads(content)  # noqa: S302 - written here, and undamaged
    except (EOFError, ValueError, TypeError):
        return None
    return note if isinstance(note, dict) else None


def contents(file: Path, most: int) -> bytes | None:
    """The bytes of a regular file; None where it is none, has more than `most`, or is away."""
    try:
        # A FIFO would never open.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        with open(descriptor, "rb", buffering=0, closefd=False) as opened:
            return opened.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write(subject: str, note: Note) -> None:
    """Note something down about `subject`, in the place of what was noted before.

    At any moment another process finds the whole of the one note or of the other.
    """
    place = directory()
    content = marshal.dumps(note)
    if place is None or len(content) > MAX_BYTES:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(_file(place, subject), digest(content) + content)
        _forget_the_oldest(place)


def _file(place: Path, subject: str) -> Path:
    return place / f"{digest(subject.encode('utf-8', 'surrogateescape')).hex()[:32]}{_SUFFIX}"


def _replace(file: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    try:
        with open(descriptor, "wb") as scratch:
            scratch.write(data)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def _forget_the_oldest(place: Path) -> None:
    """Also what a process that was killed has left there."""
    files = sorted(os.scandir(place), key=_age, reverse=True)
    for entry in files[MOST_NOTES:]:
        with suppress(OSError):
            os.unlink(entry.path)


def _age(entry: os.DirEntry[str]) -> float:
    return entry.stat(follow_symlinks=False).st_mtime
