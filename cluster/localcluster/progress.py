"""One line a step on standard error, with the seconds it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class Progress:
    """Prints steps as they end; a step announced as slow is printed when it starts as well."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet

    def say(self, text: str) -> None:
        """Print one line, unless quiet."""
        if not self._quiet:
            print(f"  {text}", file=self._stream, flush=True)

    @contextmanager
    def step(self, text: str, *, slow: bool = False) -> Iterator[None]:
        """Print `text` with its duration in seconds; a step that raises prints nothing more."""
        if slow:
            self.say(f"{text} ...")
        began = time.monotonic()
        yield
        self.done(text, since=began)

    def done(self, text: str, *, since: float) -> None:
        """Print a step that began at `since` (monotonic seconds) and has ended now."""
        self.say(f"{text:<58} {time.monotonic() - since:6.1f} s")
