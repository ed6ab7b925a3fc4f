"""What another process renders: nothing of this one may be needed for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TESTS = Path(__file__).parents[2]


def printed(program: str, environment: Mapping[str, str], directory: Path) -> bytes:
    """What a program of Python prints, with this environment and in a directory of its own."""
    paths = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": paths},
        cwd=directory,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
