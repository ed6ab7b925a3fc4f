"""Of two commands that would do the same, one waits; what is made is made whole or not at all."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcluster.progress import Progress


@contextmanager
def held(path: Path, what: str, progress: Progress) -> Iterator[int]:
    """Hold the lock file `path`; a wait for another command that is at `what` is said.

    The kernel gives the lock back when its holder ends, however that was, and with it every child
    that was given the file descriptor which this yields. The file stays: whoever waits for it has
    it open.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"waiting for another command: {what} ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()


@contextmanager
def whole(target: Path, kind: str) -> Iterator[Path]:
    """A directory to fill: it becomes `target` if the block ends well, and is deleted otherwise.

    Under a lock of this `kind`, since it deletes what a killed command of that kind has left.
    """
    prefix = f".{kind}-new-"
    for left in target.parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        yield scratch
        scratch.chmod(0o755)
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
