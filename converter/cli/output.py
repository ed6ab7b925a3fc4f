"""Writing to standard output and error, whatever they are connected to."""

import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

import click


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

    `failure` is why a line could not be written; no line is tried after that.
    """

    failure: OSError | None = None

    def line(self, text: str, *, err: bool = False) -> None:
        """Print one line, to standard error if `err`."""
        if self.failure is not None:
            return
        try:
            click.echo(text, err=err)
        except OSError as error:
            self.failure = error
            discard(sys.stderr if err else sys.stdout)

    def finish(self) -> None:
        """Raise the failure, unless the reader has just gone, as in ``campaigns apply | head``."""
        if self.failure is not None and not isinstance(self.failure, BrokenPipeError):
            raise self.failure
