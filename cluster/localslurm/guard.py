"""Ends a Slurm when the process that uses it is gone: `python -m localslurm.guard DIRECTORY`.

That process holds the other end of the standard input, and writes nothing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from localslurm.config import Files
from localslurm.ending import end


def main() -> None:
    """Wait, then end what runs there and delete the directory."""
    directory = Path(sys.argv[1])
    sys.stdin.read()
    end(Files(directory))
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
