"""Writing to standard output and error, whatever they are connected to."""

import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Final, TextIO

import click

# Back to the first column, and nothing of what was there (ECMA-48: EL).
TO_LINE_START: Final = "\r\x1b[K"


def accept_any_text() -> None:
    """Write what the encoding of the terminal lacks as an escape instead of failing at it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Drop what cannot be written: Python would try it again, and fail, on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@dataclass(slots=True)
class Progress:
    """Prints lines while a run goes on, which must not stop for want of somebody to read them.

    `failure` is why a line could not be written; no line is tried after that. `metered` is whether
    the last line on the terminal is the meter's.
    """

    failure: OSError | None = None
    metered: bool = False

    def line(self, text: str, *, err: bool = False) -> None:
        """Print one line, to standard error if `err`; it takes the place of the meter."""
        if self.metered:
            self.metered = False
            self._write(TO_LINE_START, err=True, newline=False)
        self._write(text, err=err)

    def meter(self, text: str) -> None:
        """Say how far the run is, in a line that the next one takes the place of.

        On standard error, and only where all output goes to a terminal: lines that come to it
        through a pipe would be mixed up with the meter. An empty text takes the meter away.
        """
        terminal = sys.stderr.isatty() and sys.stdout.isatty()
        if not terminal or os.environ.get("TERM") == "dumb":
            return
        self.metered = bool(text)
        self._write(TO_LINE_START + text, err=True, newline=False)

    def _write(self, text: str, *, err: bool, newline: bool = True) -> None:
        if self.failure is not None:
            return
        try:
            click.echo(text, err=err, nl=newline)
        except OSError as error:
            self.failure = error
            discard(sys.stderr if err else sys.stdout)

    def finish(self) -> None:
        """Raise the failure, unless the reader has just gone, as in ``campaigns apply | head``."""
        if self.failure is not None and not isinstance(self.failure, BrokenPipeError):
            raise self.failure
