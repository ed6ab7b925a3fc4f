"""Ends a Slurm when the process that uses it is gone: `python -m localslurm.guard DIRECTORY`.

That process holds the other end of the standard input, and writes nothing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from localcluster.progress import Progress

from localslurm.slurm import load


def main() -> None:
    """Wait, then end what runs there and delete the directory."""
    directory = Path(sys.argv[1])
    sys.stdin.read()
    if slurm := load(directory, Progress(quiet=True)):
        slurm.stop()
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
