"""A mistake in a document."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem of one file, before it knows the file. Lines and columns count from 1."""

    line: int
    column: int
    code: str
    message: str
    remedy: str
